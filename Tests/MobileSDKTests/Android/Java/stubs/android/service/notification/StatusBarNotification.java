package android.service.notification;

import android.app.Notification;

/** A notification that is shown. */
public class StatusBarNotification {
    private final int id;
    private final Notification notification;

    public StatusBarNotification(int id, Notification notification) {
        this.id = id;
        this.notification = notification;
    }

    public int getId() {
        return id;
    }

    /** The stub's notifications have none. */
    public String getTag() {
        return null;
    }

    public Notification getNotification() {
        return notification;
    }
}
