package com.android.YourApplication;

import android.widget.EditText;
import stub.Device;

/** Registers at a click, renews the token, shows a message and clicks it. */
public final class Run {
    public static void main(String[] arguments) throws Exception {
        Phone phone = new Phone(arguments);
        Phone.preferences().edit().putBoolean(AppActivity.SUBPARAMEN1_NAME, true)
                .putString(AppActivity.SUBPARAMNAME1_NAME, "city").putString(AppActivity.SUBPARAMVALUE1_NAME, "Oslo").commit();
        YourApplicationActivity activity = new YourApplicationActivity();
        activity.onCreate(null);
        EditText mail = new EditText(activity);
        mail.setText(phone.user);
        Device.SHARED.views.put(R.id.editText1, mail);
        new RegisterButton(activity).onClick(mail);
        Phone.awaitRegistration(phone.token);
        Phone.await(() -> Device.SHARED.broadcasts.size() == 1, "the listener is told");
        Device.token = phone.token + "2";
        new YourApplicationFirebaseInstanceIDService().onTokenRefresh();
        Phone.awaitRegistration(Device.token);
        new YourApplicationFirebaseMessagingService().onMessageReceived(phone.message());
        Phone.awaitHits();
        NotificationActivity opened = new NotificationActivity();
        opened.setIntent(phone.click());
        opened.onCreate(null);
        LaunchActivity launched = new LaunchActivity();
        launched.setIntent(phone.launch());
        launched.onCreate(null);
        Phone.awaitHits();
        System.out.println(AppActivity.toasts);
        System.out.println("done");
        System.exit(0);
    }
}
