package com.google.firebase.messaging;

import android.app.Service;

/** Is given tokens and messages. */
public class FirebaseMessagingService extends Service {
    public void onMessageReceived(RemoteMessage message) {
    }

    public void onNewToken(String token) {
    }
}
