package com.google.firebase.iid;

import android.app.Service;

/** Was told of new tokens before Firebase Messaging was. */
public class FirebaseInstanceIdService extends Service {
    public void onTokenRefresh() {
    }
}
