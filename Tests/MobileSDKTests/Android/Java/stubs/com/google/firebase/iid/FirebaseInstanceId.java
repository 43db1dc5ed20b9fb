package com.google.firebase.iid;

import stub.Device;

/** Knew the token before Firebase Messaging did. */
public class FirebaseInstanceId {
    public static FirebaseInstanceId getInstance() {
        return new FirebaseInstanceId();
    }

    public String getToken() {
        return Device.token;
    }
}
