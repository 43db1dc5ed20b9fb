package com.android.YourApplication;

import android.app.Notification;
import android.content.Intent;
import android.content.SharedPreferences;
import com.google.firebase.messaging.RemoteMessage;
import io.pushmta.sdk.AsyncRunner;
import io.pushmta.sdk.PushClient;
import io.pushmta.sdk.PushException;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import stub.Device;

/** The person and the system around an app: what an app's {@code Run} is made of. */
final class Phone {
    private static final int DEADLINE_SECONDS = 60;

    final String base;
    final String key;
    final String token;
    final String user;
    final String messageId;
    final String deliveryId;

    /** Of the arguments {@code BASE KEY TOKEN USER MESSAGE DELIVERY}; the app's preferences are set to them. */
    Phone(String[] arguments) {
        base = arguments[0];
        key = arguments[1];
        token = arguments[2];
        user = arguments[3];
        messageId = arguments[4];
        deliveryId = arguments[5];
        SharedPreferences.Editor edit = preferences().edit();
        edit.putString(AppActivity.APPUUID_NAME, key).putString(AppActivity.SOAPRT_NAME, base);
        edit.putString(AppActivity.TRACKRT_NAME, base).putString(AppActivity.USERKEY_NAME, user).commit();
        Device.token = token;
        // The server takes what shares a device id for one device.
        Device.androidId = "device-of-" + token.hashCode();
        new io.pushmta.sdk.android.StateProvider().onCreate();
    }

    static SharedPreferences preferences() {
        return Device.SHARED.getSharedPreferences(AppActivity.APPLICATION_PREF_NAME, 0);
    }

    /** The message as it arrives. */
    RemoteMessage message() {
        return new RemoteMessage.Builder("app").addData("_mId", messageId).addData("_dId", deliveryId)
                .addData("_msg", "From today").addData("title", "Sale").build();
    }

    /** What the launcher's activity gets when the system has shown the message. */
    Intent launch() {
        return new Intent().putExtra("_mId", messageId).putExtra("_dId", deliveryId);
    }

    /** The click on the one notification that is shown. */
    Intent click() {
        if (Device.SHARED.notifications.size() != 1) {
            throw new AssertionError(Device.SHARED.notifications.size() + " notifications");
        }
        Notification shown = Device.SHARED.notifications.values().iterator().next();
        if (!shown.title.equals("Sale") || !shown.text.equals("From today") || shown.icon != R.drawable.notif_neotrip) {
            throw new AssertionError(shown.title + ", " + shown.text + ", " + shown.icon);
        }
        return shown.contentIntent.intent;
    }

    /** Waits until the server has a token, and says so. */
    static void awaitRegistration(String token) throws Exception {
        SharedPreferences state = Device.SHARED.getSharedPreferences("io.pushmta.sdk", 0);
        await(() -> {
            String text = state.getString("registration", "");
            return text.contains("&registered=") && text.contains("&token=" + token + "&");
        }, token);
        System.out.println("registered " + token);
    }

    /** Waits until all hits that were asked for have been tried: a runner does things in order. */
    static void awaitHits() throws Exception {
        CountDownLatch tried = new CountDownLatch(1);
        new AsyncRunner(PushClient.getInstance()).notifyReceive((String) null, null, new AsyncRunner.RequestListener() {
            @Override
            public void onComplete(String response, Object state) {
            }

            @Override
            public void onPushException(PushException error, Object state) {
                tried.countDown();
            }

            @Override
            public void onIOException(IOException error, Object state) {
            }
        });
        if (!tried.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("hits not within the deadline");
        }
    }

    static void await(Callable<Boolean> condition, String what) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("Not within the deadline: " + what);
            }
            Thread.sleep(2);
        }
    }
}
