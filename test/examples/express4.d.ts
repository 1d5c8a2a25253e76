/** Express 4 beside Express 5. The tests use only what has the same types in both. */
declare module 'express4' {
  export { default } from 'express'
}
