/** Express 4 beside Express 5. The types of what the tests use of it are those of 5. */
declare module 'express4' {
  export { default } from 'express'
}
