/** The version of the schema: it rises with every change of a table or function. */
export const schemaVersion = 1
