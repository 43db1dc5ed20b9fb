package io.pushmta.sdk;

import android.app.Notification;
import android.app.NotificationManager;
import android.content.Context;
import android.content.Intent;
import android.content.SharedPreferences;
import android.net.Network;
import com.google.firebase.messaging.RemoteMessage;
import io.pushmta.sdk.android.PreferencesStorage;
import io.pushmta.sdk.android.PushMTA;
import io.pushmta.sdk.android.PushMTAMessagingService;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import stub.Device;

/** The layer for apps, on a device of stubs. */
final class AndroidLayerTests {
    /** What a listener heard, and on which thread. */
    private static final class Heard extends LinkedBlockingQueue<String> implements AsyncRunner.RequestListener {
        private static final long serialVersionUID = 1L;

        private void note(String what) {
            add(what + " on " + Thread.currentThread().getName());
        }

        @Override
        public void onComplete(String response, Object state) {
            note("complete");
        }

        @Override
        public void onPushException(PushException error, Object state) {
            note(error.getErrorCode().toString());
        }

        @Override
        public void onIOException(IOException error, Object state) {
            note("no answer");
        }

        void expect(String what) throws InterruptedException {
            Check.equal(poll(60, TimeUnit.SECONDS), what + " on main of the stub");
        }
    }

    private static void start(TestServer server) {
        PushClient.getInstance().forgetRegistration();
        PushMTA.start(Device.SHARED, "testIntegrationKey", server.base(), server.base());
    }

    void testTheDeviceAsItIs() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            Heard heard = new Heard();
            PushMTA.registerDevice("testToken", "testUser", Samples.PARAMETERS, Device.SHARED, heard);
            heard.expect("complete");
            String body = server.seen.get(0).body;
            Check.isTrue(body.contains("&deviceImei=0123456789abcdef&deviceName=stub-device&deviceModel=stub%205"
                    + "&deviceBrand=stub%20%26%20Co&deviceManufacturer=stub%20works&osName=android"
                    + "&osVersion=Android%2014%20stub&"), body);
            server.next(404, "Unknown integration key");
            PushMTA.registerDevice("testToken", "other", null, Device.SHARED, heard);
            heard.expect("UNKNOWN_INTEGRATION_KEY");
        }
    }

    void testATokenRefreshKeepsUserAndParameters() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            Heard heard = new Heard();
            PushMTA.registerDevice("testToken", "testUser", Samples.PARAMETERS, Device.SHARED, heard);
            heard.expect("complete");
            new Service(server).onNewToken("newToken");
            Check.equal(server.seen.size(), 2);
            Check.equal(server.seen.get(1).body, server.seen.get(0).body.replace("=testToken&", "=newToken&"));
            // The next start says no more.
            PushMTA.registerDevice("newToken", "testUser", null, Device.SHARED, heard);
            heard.expect("complete");
            Check.equal(server.seen.size(), 2);
        }
    }

    /** A proof is renewed, and says nothing of what the app declared before. */
    void testAProofAloneKeepsTheParameters() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            Heard heard = new Heard();
            PushMTA.registerDevice("testToken", "testUser", Samples.PARAMETERS, Device.SHARED, heard);
            heard.expect("complete");
            for (String proof : new String[] {"one", "two"}) {
                PushMTA.registerDevice("testToken", "testUser", PushClient.withUserKeyProof(null, proof), Device.SHARED, heard);
                heard.expect("complete");
            }
            String kept = server.seen.get(0).body;
            String end = "%3C%2FadditionalParameters%3E";
            Check.equal(server.seen.get(2).body,
                    kept.replace(end, "%3Cparam%20name%3D%22userKeyProof%22%20value%3D%22two%22%2F%3E" + end));
        }
    }

    /** Without a registration there is nothing to renew, and a service must not fail. */
    void testATokenBeforeAnyRegistration() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            new Service(server).onNewToken("newToken");
            Check.equal(server.seen.size(), 0);
        }
    }

    private static final class Service extends PushMTAMessagingService {
        final List<Integer> requestsWhenShown = new ArrayList<>();
        private final TestServer server;

        Service(TestServer server) {
            this.server = server;
        }

        @Override
        protected void show(RemoteMessage message) {
            requestsWhenShown.add(server.seen.size());
        }
    }

    void testReceiptsFollowTheNotification() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            Service service = new Service(server);
            service.onMessageReceived(new RemoteMessage.Builder("a").addData("_mId", "12345").addData("_dId", "f0190").build());
            service.onMessageReceived(new RemoteMessage.Builder("a").addData("_mId", "12345").build());
            Check.equal(service.requestsWhenShown.toString(), "[0, 1]");
            Check.equal(server.seen.size(), 1);
            Check.equal(server.seen.get(0).uri, "/r/?id=h3039,f0190,1");
        }
    }

    /** Only the recalled delivery's notifications go, each with a report; nothing is shown. */
    void testARecallRemovesWhatIsShown() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            NotificationManager manager = (NotificationManager) Device.SHARED.getSystemService(Context.NOTIFICATION_SERVICE);
            String[][] shown = {{"12345", "f0190"}, {"12346", "f0191"}};
            for (int number = 0; number < shown.length; number++) {
                Map<String, String> data = new HashMap<>();
                data.put("_mId", shown[number][0]);
                data.put("_dId", shown[number][1]);
                manager.notify(900 + number, new Notification.Builder(Device.SHARED).addExtras(PushMTA.extras(data)).build());
            }
            Service service = new Service(server);
            service.onMessageReceived(new RemoteMessage.Builder("a").addData("_recall", "f018f,f0190").addData("_mId", "99999")
                    .addData("_dId", "f0192").build());
            Check.equal(service.requestsWhenShown.toString(), "[]");
            Check.isTrue(!Device.SHARED.notifications.containsKey(900), "the recalled one");
            Check.isTrue(Device.SHARED.notifications.remove(901) != null, "the other one");
            Check.equal(server.seen.size(), 2);
            Check.equal(server.seen.get(0).uri, "/r/?id=h3039,f0190,3");
            Check.equal(server.seen.get(1).uri, "/r/?id=h1869f,f0192,1");
        }
    }

    /** Turning the device makes the activity anew, with the same intent. */
    void testAnOpeningCountsOnce() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            Heard heard = new Heard();
            Intent intent = new Intent().putExtra("_mId", "12345").putExtra("_dId", "f0190");
            Check.isTrue(PushMTA.notifyOpening(intent, heard), "a click");
            Check.isTrue(!PushMTA.notifyOpening(intent, heard), "counted");
            Check.isTrue(!PushMTA.notifyOpening(null, heard), "started by nothing");
            heard.expect("complete");
            Check.equal(server.seen.size(), 1);
            Check.equal(server.seen.get(0).uri, "/r/?id=h3039,f0190,2");
        }
    }

    void testANetworkBringsWhatIsQueued() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            start(server);
            Check.equal(Device.SHARED.networkCallbacks.size(), 1);
            server.next(503, "busy");
            Check.refused(() -> PushClient.getInstance().notifyReceive("12345", "f0190"));
            Device.SHARED.networkCallbacks.get(0).onAvailable(new Network());
            Check.eventually(() -> server.seen.size() == 2, "sent again");
        }
    }

    void testTheStateIsInThePreferences() throws Exception {
        try (TestServer server = new TestServer()) {
            start(server);
            PushClient.getInstance().registerDevice("testToken", "testUser", null, Samples.device());
            String text = new PreferencesStorage(Device.SHARED).read(Registrar.NAME);
            Check.equal(RegistrationRecord.read(text).last.token, "testToken");
            Check.equal(new PreferencesStorage(Device.SHARED).read("nothing"), null);
            SharedPreferences preferences = Device.SHARED.getSharedPreferences("io.pushmta.sdk", 0);
            preferences.edit().putBoolean("strange", true).commit();
            IOException error = Check.lost(() -> new PreferencesStorage(Device.SHARED).read("strange"));
            Check.isTrue(error.getMessage().contains("strange"), "says which");
        }
    }
}
