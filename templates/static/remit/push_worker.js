// Shows what Remit sends to this browser, and opens the page that it leads to. It decides nothing.

self.addEventListener("push", (event) => {
  const said = event.data.json();
  event.waitUntil(self.registration.showNotification(said.title, {
    body: said.body,
    tag: said.tag,
    icon: new URL("icon.svg", self.location).href,
    data: said.url,
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const page = new URL(event.notification.data || "/", self.location.origin);
  if (page.origin === self.location.origin) event.waitUntil(self.clients.openWindow(page.href));
});
