package stub;

import android.app.Notification;
import android.app.NotificationManager;
import android.content.ContentResolver;
import android.content.Context;
import android.content.Intent;
import android.content.SharedPreferences;
import android.net.ConnectivityManager;
import android.view.View;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The device that all stubs share: a test sets what an app would find, and reads what it did. */
public final class Device extends Context {
    /** The device, and the app's context. */
    public static final Device SHARED = new Device();

    /** What Firebase calls the app's token. */
    public static volatile String token = "token";
    /** What the system calls the device. */
    public static volatile String androidId = "0123456789abcdef";
    /** Notifications that are shown, by their number. */
    public final Map<Integer, Notification> notifications = new ConcurrentHashMap<>();
    /** Broadcasts that were sent. */
    public final List<Intent> broadcasts = new CopyOnWriteArrayList<>();
    /** Who waits for a network. */
    public final List<ConnectivityManager.NetworkCallback> networkCallbacks = new CopyOnWriteArrayList<>();
    /** What stands on the screen, by its number. */
    public final Map<Integer, View> views = Collections.synchronizedMap(new HashMap<>());
    private final Map<String, SharedPreferences> preferences = new ConcurrentHashMap<>();

    private Device() {
    }

    @Override
    public Context getApplicationContext() {
        return this;
    }

    @Override
    public ContentResolver getContentResolver() {
        return new ContentResolver() { };
    }

    @Override
    public SharedPreferences getSharedPreferences(String name, int mode) {
        return preferences.computeIfAbsent(name, ignored -> new Preferences());
    }

    @Override
    public Object getSystemService(String name) {
        if (name.equals(Context.CONNECTIVITY_SERVICE)) {
            return new ConnectivityManager();
        }
        return name.equals(Context.NOTIFICATION_SERVICE) ? new NotificationManager() : null;
    }

    @Override
    public void sendBroadcast(Intent intent) {
        broadcasts.add(intent);
    }
}
