/** A real MySQL. It is handled as MariaDB is. */
import { type Engine, type MariadbOptions, type MariadbServer, startEngine } from '../mariadb/server.js'
import { mysqlInstallation } from './installation.js'

/** Small, and durable. What they leave out is MySQL's own default: collations, isolation, binary log, sql_mode. */
const mysql = (): Engine => {
  const { mysqld, account } = mysqlInstallation()
  return {
    name: 'MySQL',
    program: mysqld,
    account,
    defaults: {
      innodb_flush_log_at_trx_commit: '1',
      innodb_buffer_pool_size: '64M',
      innodb_redo_log_capacity: '32M',
      max_connections: '300',
      secure_file_priv: '',
      mysqlx: 'OFF',
    },
    initialise: (dataFolder, sqlFile) => ({
      program: mysqld,
      parameters: [
        '--no-defaults',
        '--initialize-insecure',
        `--datadir=${dataFolder}`,
        `--init-file=${sqlFile}`,
      ],
    }),
    withoutUsers: "DROP USER 'root'@'localhost';",
  }
}

/** @throws Error when MySQL is not there, or does not start, with its log */
export const startMysql = async (options: MariadbOptions = {}): Promise<MariadbServer> =>
  startEngine(mysql(), options)
