package io.pushmta.sdk;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The asynchronous runner. */
final class AsyncRunnerTests {
    /** Records the calls that it gets. */
    private static final class Recorder implements AsyncRunner.RequestListener {
        final List<String> told = new CopyOnWriteArrayList<>();

        @Override
        public void onComplete(String response, Object state) {
            told.add("complete " + state);
        }

        @Override
        public void onPushException(PushException error, Object state) {
            told.add(error.getErrorCode() + " " + error.getErrorString());
        }

        @Override
        public void onIOException(IOException error, Object state) {
            told.add("lost " + error.getMessage());
        }

        void await(String... expected) throws Exception {
            Check.eventually(() -> told.size() >= expected.length, "calls of the listener, so far " + told);
            Check.equal(told, java.util.Arrays.asList(expected));
        }
    }

    void testRegistrations() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.patientClient(server, new MemoryStorage());
            AsyncRunner runner = new AsyncRunner(client);
            Recorder recorder = new Recorder();
            server.next(200, "");
            server.next(404, "Unknown integration key");
            server.next(400, "Malformed token");
            Map<String, Object> parameters = new HashMap<>(Samples.PARAMETERS);
            runner.registerDevice("testToken", "testUser", parameters, Samples.device(), recorder);
            parameters.clear();
            runner.registerDevice("testToken", "two", null, Samples.device(), recorder);
            runner.registerDevice("testToken", "three", null, Samples.device(), recorder);
            runner.refreshToken("newToken", recorder);
            recorder.await("complete testToken", "UNKNOWN_INTEGRATION_KEY Unknown integration key",
                    "UNEXPECTED_ERROR Malformed token", "complete newToken");
            Check.equal(server.seen.get(0).body, Samples.BODY);
            runner.registerDevice("testToken", "testUser", Samples.PARAMETERS, Samples.device(), null);
            Check.eventually(() -> server.seen.size() == 5, "a call without a listener");
        }
    }

    void testHits() throws Exception {
        try (TestServer server = new TestServer()) {
            AsyncRunner runner = new AsyncRunner(Samples.client(server, new MemoryStorage()), Runnable::run);
            Recorder recorder = new Recorder();
            runner.notifyReceive("12345", "testDeliveryId", recorder);
            runner.notifyReceive(12345, "testDeliveryId", recorder);
            runner.notifyOpening("12345", "testDeliveryId", recorder);
            runner.notifyOpening(12345, "testDeliveryId", recorder);
            runner.notifyOpening("", "testDeliveryId", recorder);
            recorder.await("complete 12345", "complete 12345", "complete 12345", "complete 12345",
                    "NO_IDS The notification has no valid _mId and _dId");
            Check.equal(server.seen.size(), 4);
        }
    }

    void testLost() throws Exception {
        PushClient client = new PushClient(request -> {
            throw new IOException("offline");
        });
        client.setMarketingHost("host");
        client.setIntegrationKey("key");
        Recorder recorder = new Recorder();
        new AsyncRunner(client).registerDevice("t", "u", null, Samples.device(), recorder);
        recorder.await("lost offline");
    }

    /** A listener may call the client without a deadlock. */
    void testAListenerThatCalls() throws Exception {
        try (TestServer server = new TestServer()) {
            final PushClient client = Samples.client(server, new MemoryStorage());
            Recorder recorder = new Recorder();
            new AsyncRunner(client).registerDevice("t", "u", null, Samples.device(), new AsyncRunner.RequestListener() {
                @Override
                public void onComplete(String response, Object state) {
                    try {
                        client.registerDevice("t", "other", null, Samples.device());
                        recorder.onComplete(response, "both");
                    } catch (PushException | IOException error) {
                        recorder.onComplete(response, error);
                    }
                }

                @Override
                public void onPushException(PushException error, Object state) {
                    recorder.onPushException(error, state);
                }

                @Override
                public void onIOException(IOException error, Object state) {
                    recorder.onIOException(error, state);
                }
            });
            recorder.await("complete both");
        }
    }
}
