package android.app;

import stub.Device;

/** Shows notifications. */
public class NotificationManager {
    public void notify(int id, Notification notification) {
        Device.SHARED.notifications.put(id, notification);
    }
}
