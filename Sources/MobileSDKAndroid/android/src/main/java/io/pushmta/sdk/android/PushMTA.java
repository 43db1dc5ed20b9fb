package io.pushmta.sdk.android;

import android.app.NotificationManager;
import android.content.Context;
import android.content.Intent;
import android.os.Build;
import android.os.Bundle;
import android.service.notification.StatusBarNotification;
import io.pushmta.sdk.AsyncRunner;
import io.pushmta.sdk.PushClient;
import io.pushmta.sdk.PushException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The SDK in an Android app. */
public final class PushMTA {
    private static boolean hasStorage;

    private PushMTA() {
    }

    /**
     * Starts the SDK. Call it in {@code Application.onCreate}, which runs before each activity and service, even if a
     * message wakes the app in the background.
     */
    public static synchronized void start(Context context, String integrationKey, String marketingHost, String trackingHost) {
        keepState(context);
        PushClient client = PushClient.getInstance();
        client.setIntegrationKey(integrationKey);
        client.setMarketingHost(marketingHost);
        client.setTrackingHost(trackingHost);
    }

    /**
     * Makes the SDK keep its state in the app's preferences and retry when there is a network. {@link StateProvider}
     * has already called it, unless the app's manifest removes that provider or this is not the app's main process.
     */
    public static synchronized void keepState(Context context) {
        if (!hasStorage) {
            hasStorage = true;
            PushClient client = PushClient.getInstance();
            client.setStorage(new PreferencesStorage(context));
            NetworkWatch.start(context.getApplicationContext(), client);
        }
    }

    /** A runner whose listeners are called on the main thread. */
    public static AsyncRunner runner() {
        return new AsyncRunner(PushClient.getInstance(), new MainThread());
    }

    /** Registers this device in the background. The listener may be null. */
    public static void registerDevice(String token, String userKey, Map<String, ?> parameters, Context context,
            AsyncRunner.RequestListener listener) {
        runner().registerDevice(token, userKey, parameters, AndroidDevice.describe(context), listener);
    }

    /** Sends the device's time zone, which is personal data, with later registrations: {@link PushClient#setSendsTimeZone}. */
    public static void setSendsTimeZone(boolean sends) {
        PushClient.getInstance().setSendsTimeZone(sends);
    }

    /** Records in the background that the user wants no messages, or wants them again: {@link PushClient#setOptOut}. */
    public static void setOptOut(boolean optedOut, AsyncRunner.RequestListener listener) {
        runner().setOptOut(optedOut, listener);
    }

    /**
     * Records in the background that the user wants no messages of a category, or wants them again:
     * {@link PushClient#setOptOut(String, boolean)}.
     */
    public static void setOptOut(String category, boolean optedOut, AsyncRunner.RequestListener listener) {
        runner().setOptOut(category, optedOut, listener);
    }

    /** Reports to the server that a data message arrived; false if it is not from PushMTA. */
    public static boolean notifyReceive(Map<String, String> data, AsyncRunner.RequestListener listener) {
        String messageId = data.get("_mId");
        String deliveryId = data.get("_dId");
        if (messageId == null || deliveryId == null) {
            return false;
        }
        runner().notifyReceive(messageId, deliveryId, listener);
        return true;
    }

    /**
     * Reports to the server that a notification was opened, if that started the activity; otherwise false. Call it in
     * {@code onCreate} and {@code onNewIntent}. The ids are removed from the intent; otherwise rotating the device
     * would count again.
     */
    public static boolean notifyOpening(Intent intent, AsyncRunner.RequestListener listener) {
        Bundle extras = intent == null ? null : intent.getExtras();
        String messageId = extras == null ? null : extras.getString("_mId");
        String deliveryId = extras == null ? null : extras.getString("_dId");
        if (messageId == null || deliveryId == null) {
            return false;
        }
        intent.removeExtra("_mId");
        intent.removeExtra("_dId");
        runner().notifyOpening(messageId, deliveryId, listener);
        return true;
    }

    /**
     * The ids of a data message, for {@code Notification.Builder.addExtras}: a notification with them is removed if its
     * delivery is recalled.
     */
    public static Bundle extras(Map<String, String> data) {
        Bundle extras = new Bundle();
        for (String key : new String[] {"_mId", "_dId"}) {
            if (data.get(key) != null) {
                extras.putString(key, data.get(key));
            }
        }
        return extras;
    }

    /**
     * Removes the notifications of a recalled delivery that have the ids of {@link #extras}, and reports each; false if
     * the message recalls nothing. Call it on a thread that may block. It needs Android 6.
     */
    public static boolean removeRecalled(Map<String, String> data, Context context) {
        String recalled = data.get("_recall");
        if (recalled == null) {
            return false;
        }
        NotificationManager manager = (NotificationManager) context.getSystemService(Context.NOTIFICATION_SERVICE);
        if (manager == null || Build.VERSION.SDK_INT < Build.VERSION_CODES.M) {
            return true;
        }
        // The recalled delivery, and those that have replaced its messages.
        List<String> deliveryIds = Arrays.asList(recalled.split(","));
        for (StatusBarNotification shown : manager.getActiveNotifications()) {
            Bundle extras = shown.getNotification().extras;
            String deliveryId = extras == null ? null : extras.getString("_dId");
            if (deliveryIds.contains(deliveryId)) {
                manager.cancel(shown.getTag(), shown.getId());
                try {
                    PushClient.getInstance().notifyRemoval(extras.getString("_mId"), deliveryId);
                } catch (PushException | IOException error) {
                    // It is kept and retried, unless the server refused it.
                }
            }
        }
        return true;
    }
}
