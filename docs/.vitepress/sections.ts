/** The pages in the order in which they are listed: by the site, and in llms.txt. */
export const sections = [
  {
    text: 'Start',
    items: [
      { text: 'The first hour', link: '/first-hour' },
      { text: 'Shapes of a PAM', link: '/shapes' },
      { text: 'Go live', link: '/go-live' },
      { text: 'Glossary', link: '/glossary' },
    ],
  },
  {
    text: 'Store',
    items: [
      { text: 'PostgreSQL', link: '/postgres' },
      { text: 'MySQL and MariaDB', link: '/mysql' },
      { text: 'Your own store', link: '/own-store' },
    ],
  },
  {
    text: 'Calls',
    items: [
      { text: 'HTTP', link: '/http' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Your own code', link: '/your-own-code' },
      { text: 'Errors', link: '/errors' },
    ],
  },
  {
    text: 'Operation',
    items: [
      { text: 'Runbook', link: '/runbook' },
      { text: 'Operations', link: '/operations' },
      { text: 'Observability', link: '/observability' },
      { text: 'Records', link: '/records' },
    ],
  },
  {
    text: 'Verification',
    items: [
      { text: 'The audit', link: '/audit' },
      { text: 'Cases', link: '/cases' },
      { text: 'Measurements', link: '/benchmarks' },
    ],
  },
  {
    text: 'Rules',
    items: [
      { text: 'The interface', link: '/interface' },
      { text: 'Decisions', link: '/decisions' },
    ],
  },
]
