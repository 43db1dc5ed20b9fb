package io.pushmta.sdk;

import com.neolane.android.v1.Neolane;
import com.neolane.android.v1.NeolaneAsyncRunner;
import com.neolane.android.v1.NeolaneException;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import stub.Device;

/** Adobe's calls: each goes to the server as the core sends it. */
final class FacadeTests {
    private static final class Heard extends LinkedBlockingQueue<String> implements NeolaneAsyncRunner.RequestListener {
        private static final long serialVersionUID = 1L;

        @Override
        public void onComplete(String response, Object state) {
            add("complete");
        }

        @Override
        public void onNeolaneException(NeolaneException error, Object state) {
            add(error.getErrorCode() + " " + error.getErrorString());
        }

        @Override
        public void onIOException(IOException error, Object state) {
            add("no answer");
        }

        void expect(String what) throws InterruptedException {
            Check.equal(poll(60, TimeUnit.SECONDS), what);
        }
    }

    private static Neolane neolane(TestServer server) {
        PushClient.getInstance().forgetRegistration();
        Neolane neolane = Neolane.getInstance();
        neolane.setIntegrationKey("testIntegrationKey");
        neolane.setMarketingHost(server.base());
        neolane.setTrackingHost(server.base());
        return neolane;
    }

    private static NeolaneException refused(Check.Call call) throws Exception {
        try {
            call.run();
        } catch (NeolaneException error) {
            return error;
        }
        throw new AssertionError("nothing was refused");
    }

    void testThereIsOne() {
        Check.isTrue(Neolane.getInstance() == Neolane.getInstance(), "one");
    }

    void testRegistrations() throws Exception {
        try (TestServer server = new TestServer()) {
            Neolane neolane = neolane(server);
            Map<String, Object> parameters = new TreeMap<>();
            parameters.put("key", "value");
            neolane.registerDevice("testToken", "testUser", parameters, Device.SHARED);
            NeolaneAsyncRunner runner = new NeolaneAsyncRunner(neolane);
            Heard heard = new Heard();
            // The user keeps the parameters that the app does not repeat, with a new token and at the next start.
            runner.registerDevice("newToken", "testUser", null, Device.SHARED, heard);
            heard.expect("complete");
            neolane.registerDevice("newToken", "testUser", null, Device.SHARED);
            neolane.registerDevice("newToken", "testUser", new TreeMap<>(), Device.SHARED);
            runner.registerDevice("newToken", "testUser", parameters, Device.SHARED, null);
            Check.eventually(() -> server.seen.size() == 4, "without a listener");
            String first = server.seen.get(0).body;
            Check.isTrue(first.contains("registrationToken=testToken&mobileAppUuid=testIntegrationKey&userKey=testUser"
                    + "&deviceImei=0123456789abcdef&"), first);
            Check.equal(first.substring(first.indexOf("&additionalParams=")),
                    Samples.BODY.substring(Samples.BODY.indexOf("&additionalParams=")));
            Check.equal(server.seen.get(1).body, first.replace("=testToken&", "=newToken&"));
            Check.isTrue(!server.seen.get(2).body.contains("value"), server.seen.get(2).body);
            Check.equal(server.seen.get(3).body, server.seen.get(1).body);
        }
    }

    void testEachFormOfAHit() throws Exception {
        try (TestServer server = new TestServer()) {
            Neolane neolane = neolane(server);
            NeolaneAsyncRunner runner = new NeolaneAsyncRunner(neolane);
            Heard heard = new Heard();
            neolane.notifyReceive("12345", "64");
            neolane.notifyReceive(Integer.valueOf("12345"), "64");
            neolane.notifyReceive("12345", Integer.valueOf("64"));
            neolane.notifyReceive(Integer.valueOf("12345"), Integer.valueOf("64"));
            runner.notifyReceive("12345", "64", heard);
            runner.notifyReceive(Integer.valueOf("12345"), "64", heard);
            runner.notifyReceive("12345", Integer.valueOf("64"), heard);
            runner.notifyReceive(Integer.valueOf("12345"), Integer.valueOf("64"), heard);
            for (int count = 0; count < 4; count++) {
                heard.expect("complete");
            }
            neolane.notifyOpening("12345", "64");
            neolane.notifyOpening(Integer.valueOf("12345"), "64");
            neolane.notifyOpening("12345", Integer.valueOf("64"));
            neolane.notifyOpening(Integer.valueOf("12345"), Integer.valueOf("64"));
            runner.notifyOpening("12345", "64", heard);
            runner.notifyOpening(Integer.valueOf("12345"), "64", heard);
            runner.notifyOpening("12345", Integer.valueOf("64"), heard);
            runner.notifyOpening(Integer.valueOf("12345"), Integer.valueOf("64"), heard);
            for (int count = 0; count < 4; count++) {
                heard.expect("complete");
            }
            neolane.notifyOpening("6b6499a8-9d43-4bc5-acf0-b6aeb96846f6", "f0190");
            Check.equal(server.seen.size(), 17);
            for (int index = 0; index < 16; index++) {
                Check.equal(server.seen.get(index).uri, "/r/?id=h3039,64," + (index < 8 ? 1 : 2));
            }
            Check.equal(server.seen.get(16).uri, "/r/?id=h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,f0190,2");
        }
    }

    void testRefusals() throws Exception {
        try (TestServer server = new TestServer()) {
            Neolane neolane = neolane(server);
            server.next(404, "Unknown integration key\n");
            NeolaneException error = refused(() -> neolane.registerDevice("t", "u", null, Device.SHARED));
            Check.equal(error.getErrorCode(), NeolaneException.UNKNOWN_INTEGRATION_KEY);
            Check.equal(error.getErrorString(), "Unknown integration key");
            server.next(400, "Malformed token\nmore");
            error = refused(() -> neolane.registerDevice("t", "u", null, Device.SHARED));
            Check.equal(error.getErrorCode(), NeolaneException.UNEXPECTED_ERROR);
            Check.equal(error.getErrorString(), "Malformed token");
            error = refused(() -> neolane.notifyOpening((String) null, "64"));
            Check.equal(error.getErrorCode(), NeolaneException.NO_IDS);
            error = refused(() -> neolane.notifyReceive((Integer) null, "64"));
            Check.equal(error.getErrorCode(), NeolaneException.NO_IDS);
            neolane.setIntegrationKey("");
            error = refused(() -> neolane.registerDevice("t", "u", null, Device.SHARED));
            Check.equal(error.getErrorCode(), NeolaneException.INTEGRATION_KEY_EMPTY);
            neolane.setMarketingHost("");
            error = refused(() -> neolane.registerDevice("t", "u", null, Device.SHARED));
            Check.equal(error.getErrorCode(), NeolaneException.MARKETING_HOST_EMPTY);
            neolane.setTrackingHost(null);
            error = refused(() -> neolane.notifyReceive("12345", "64"));
            Check.equal(error.getErrorCode(), NeolaneException.TRACKING_HOST_EMPTY);
            Heard heard = new Heard();
            new NeolaneAsyncRunner(neolane).notifyOpening(12345, "64", heard);
            heard.expect(NeolaneException.TRACKING_HOST_EMPTY + " " + error.getErrorString());
            Check.equal(server.seen.size(), 2);
        }
    }

    /** Each refusal of the core has a number of its own; what an app cannot cause through these calls is unexpected. */
    void testNumbersDiffer() throws Exception {
        TreeMap<Integer, String> numbers = new TreeMap<>();
        for (java.lang.reflect.Field field : NeolaneException.class.getFields()) {
            if (field.getType() == int.class) {
                Check.equal(numbers.put(field.getInt(null), field.getName()), null);
            }
        }
        for (PushException.Code code : PushException.Code.values()) {
            Check.isTrue(numbers.containsValue(code.name()) || code == PushException.Code.NOTHING_REGISTERED, code.name());
        }
    }

    /** Also by an app that never passes a context: the provider has given the core its storage. */
    void testWhatIsLostIsKept() throws Exception {
        TestServer away = new TestServer();
        Neolane neolane = neolane(away);
        away.close();
        Check.lost(() -> neolane.notifyReceive("12345", "64"));
        Heard heard = new Heard();
        new NeolaneAsyncRunner(neolane).notifyOpening("12345", "64", heard);
        heard.expect("no answer");
        String kept = Device.SHARED.getSharedPreferences("io.pushmta.sdk", 0).getString(Tracker.NAME, "");
        Check.isTrue(kept.contains("3039"), kept);
        try (TestServer back = new TestServer()) {
            neolane(back);
            Check.eventually(() -> back.seen.size() == 2, "sent to the server that is there");
            Check.equal(back.seen.get(0).uri, "/r/?id=h3039,64,1");
            Check.equal(back.seen.get(1).uri, "/r/?id=h3039,64,2");
        }
    }
}
