/** Timelines: a promoted server has a higher one than its former primary. */

import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  type DatabaseFunction,
  defineFunction,
  functionName,
  otherTimeline,
  systemIdentifier,
  timelineOfServer,
  timelineParameters,
} from './fragments.js'

/** Called where the timeline of the server is not the highest one that has answered the store. */
export function otherTimelineFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, otherTimeline),
    comment: sql`
      -- Refuses a former primary; otherwise returns the timeline of this server.`,
    parameters: timelineParameters,
    returns: 'text',
    body: sql`
      DECLARE
        own_timeline bigint := ${timelineOfServer};
        own_system bigint := ${systemIdentifier};
      BEGIN
        IF own_timeline < highest_timeline AND own_system = of_system THEN
          RAISE EXCEPTION 'bet-wallet: this server is a former primary: its timeline is %, and % has answered',
            own_timeline, highest_timeline
            USING ERRCODE = 'read_only_sql_transaction';
        END IF;
        RETURN own_timeline || '/' || own_system;
      END`,
  })
}

/** `2/7412345678901234567`: the timeline, and the cluster in which it is compared. NULL on a standby. */
export const timelineExpression = sql`
  CASE WHEN NOT pg_is_in_recovery() THEN
    ${timelineOfServer} || '/' || ${systemIdentifier}
  END`
