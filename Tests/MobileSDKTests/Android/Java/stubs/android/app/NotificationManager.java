package android.app;

import android.service.notification.StatusBarNotification;
import java.util.Map;
import stub.Device;

/** Shows notifications. */
public class NotificationManager {
    public void notify(int id, Notification notification) {
        Device.SHARED.notifications.put(id, notification);
    }

    public void cancel(String tag, int id) {
        Device.SHARED.notifications.remove(id);
    }

    public StatusBarNotification[] getActiveNotifications() {
        Map<Integer, Notification> shown = Device.SHARED.notifications;
        return shown.entrySet().stream().map(entry -> new StatusBarNotification(entry.getKey(), entry.getValue()))
                .toArray(StatusBarNotification[]::new);
    }
}
