/**
 * The end of `npm pack`: removes the scripts from the package.json in the tarball. The one of the clone keeps them, also
 * when a pack is interrupted.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withoutScripts } from './without-scripts.js'

const {
  npm_command: command,
  npm_config_dry_run: isDry,
  npm_config_pack_destination: folder = '.',
  npm_package_name: name,
  npm_package_version: version,
  INIT_CWD: started = '.',
} = process.env

// `npm publish` of a folder writes no file.
if (command === 'pack' && isDry !== 'true') {
  const file = resolve(started, folder, `${name}-${version}.tgz`)
  const tarball = withoutScripts(readFileSync(file))
  writeFileSync(file, tarball)
  console.error(`${file} without scripts: sha256 ${createHash('sha256').update(tarball).digest('hex')}`)
}
