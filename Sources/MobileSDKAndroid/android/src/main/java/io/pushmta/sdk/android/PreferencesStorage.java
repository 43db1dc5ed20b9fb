package io.pushmta.sdk.android;

import android.content.Context;
import android.content.SharedPreferences;
import io.pushmta.sdk.Storage;
import java.io.IOException;

/** Stores the SDK's state in the app's private preferences. */
public final class PreferencesStorage implements Storage {
    private final SharedPreferences preferences;

    /** Uses the app's preferences {@code io.pushmta.sdk}. */
    public PreferencesStorage(Context context) {
        preferences = context.getApplicationContext().getSharedPreferences("io.pushmta.sdk", Context.MODE_PRIVATE);
    }

    @Override
    public String read(String name) throws IOException {
        try {
            return preferences.getString(name, null);
        } catch (ClassCastException error) {
            throw new IOException("The preference " + name + " is not the SDK's", error);
        }
    }

    /** Waits until the value is on disk: a request is sent only after that. */
    @Override
    public void write(String name, String text) throws IOException {
        if (!preferences.edit().putString(name, text).commit()) {
            throw new IOException("The preference " + name + " cannot be written");
        }
    }
}
