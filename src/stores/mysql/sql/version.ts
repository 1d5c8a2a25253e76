/** The version of the schema: it rises with every change of a table or procedure. */
export const schemaVersion = 1
