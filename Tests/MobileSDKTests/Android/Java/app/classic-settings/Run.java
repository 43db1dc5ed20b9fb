package com.android.YourApplication;

/** Shows a message and clicks it; the settings come from preferences. */
public final class Run {
    public static void main(String[] arguments) throws Exception {
        Phone phone = new Phone(arguments);
        new YourApplicationFirebaseMessagingService().onMessageReceived(phone.message());
        Phone.awaitHits();
        NotificationActivity activity = new NotificationActivity();
        activity.setIntent(phone.click());
        activity.onCreate(null);
        System.out.println("done");
        System.exit(0);
    }
}
