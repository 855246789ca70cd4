"""Mail and events out of files and mail servers, page by page. Nothing is written there."""
