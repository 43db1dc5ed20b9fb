package com.android.YourApplication;

import android.content.Intent;
import com.neolane.android.v1.Neolane;
import java.util.HashMap;
import stub.Device;

/** Registers, renews the token, shows a message and clicks it. */
public final class Run {
    public static void main(String[] arguments) throws Exception {
        Phone phone = new Phone(arguments);
        YourApplicationActivity.permit();
        YourApplicationActivity.configure();
        // The samples' hosts are names to be replaced.
        Neolane.getInstance().setIntegrationKey(phone.key);
        Neolane.getInstance().setMarketingHost(phone.base);
        Neolane.getInstance().setTrackingHost(phone.base);
        new YourApplicationActivity().registerInNeolane(phone.token, phone.user, Device.SHARED);
        Phone.awaitRegistration(phone.token);
        Device.token = phone.token + "2";
        AppActivity.userKey = phone.user;
        AppActivity.additionnalParam = new HashMap<>();
        AppActivity.additionnalParam.put("city", "Oslo");
        new NeoTripFirebaseInstanceIDService().onTokenRefresh();
        Phone.awaitRegistration(Device.token);
        new YourApplicationFirebaseMessagingService().onMessageReceived(phone.message());
        NotificationActivity activity = new NotificationActivity();
        activity.setIntent(phone.click());
        activity.onCreate(null);
        Phone.awaitHits();
        new VariableReceiver().onReceive(Device.SHARED, new Intent().putExtra("VAR", "value"));
        System.out.println("done");
        System.exit(0);
    }
}
