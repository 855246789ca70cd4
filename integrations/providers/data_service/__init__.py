"""The External Data Service (docs/data-service.md): a service of the organisation's own that stands
before Gmail, Outlook, Google Drive, calendars, Jira, GitHub and Slack, and names them sources."""
