package com.android.YourApplication;

/** Whether the app is on the screen. */
final class yourApplication {
    private yourApplication() {
    }

    static boolean isActivityVisible() {
        return false;
    }
}
