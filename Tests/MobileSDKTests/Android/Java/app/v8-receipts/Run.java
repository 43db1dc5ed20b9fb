package com.android.YourApplication;

/** Has a message arrive, and another one opened that the system showed. */
public final class Run {
    public static void main(String[] arguments) throws Exception {
        Phone phone = new Phone(arguments);
        new YourApplicationFirebaseMessagingService().onMessageReceived(phone.message());
        LaunchActivity launched = new LaunchActivity();
        launched.setIntent(phone.launch());
        launched.onCreate(null);
        Phone.awaitHits();
        System.out.println(AppActivity.toasts);
        System.out.println("done");
        System.exit(0);
    }
}
