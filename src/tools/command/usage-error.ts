/** Wrong usage of the command. The message is for the user. */
export class UsageError extends Error {}
