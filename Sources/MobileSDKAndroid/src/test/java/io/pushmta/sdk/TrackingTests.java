package io.pushmta.sdk;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Tracking against a server. */
final class TrackingTests {
    private static List<String> uris(TestServer server) {
        List<String> result = new ArrayList<>();
        for (TestServer.Seen seen : server.seen) {
            result.add(seen.method + " " + seen.uri + seen.body);
        }
        return result;
    }

    void testRequests() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            client.notifyReceive("12345", "testDeliveryId");
            client.notifyOpening(Samples.UUID, "testDeliveryId");
            client.notifyReceive(-673096100, "f0190");
            client.notifyOpening(5, "f0190");
            List<String> expected = new ArrayList<>();
            expected.add("GET /r/?id=h3039,testDeliveryId,1");
            expected.add("GET /r/?id=h" + Samples.UUID + ",testDeliveryId,2");
            expected.add("GET /r/?id=hd7e15e5c,f0190,1");
            expected.add("GET /r/?id=h5,f0190,2");
            Check.equal(uris(server), expected);
            Check.equal(server.seen.get(0).contentType, null);
        }
    }

    void testNothingToTrack() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            for (String id : new String[] {"1-1-1-1-1", "a8a", "", null}) {
                PushException error = Check.refused(() -> client.notifyReceive(id, "testDeliveryId"));
                Check.equal(error.getErrorCode(), PushException.Code.NO_IDS);
            }
            Check.equal(Check.refused(() -> client.notifyOpening("12345", "")).getErrorCode(), PushException.Code.NO_IDS);
            client.setTrackingHost("");
            Check.equal(Check.refused(() -> client.notifyOpening("12345", "d")).getErrorCode(),
                    PushException.Code.TRACKING_HOST_EMPTY);
            Check.equal(server.seen.size(), 0);
        }
    }

    void testConversionsOfTheLastOpenedNotification() throws Exception {
        Storage storage = new MemoryStorage();
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, storage);
            Check.equal(Check.refused(() -> client.recordConversion("buy", null)).getErrorCode(), PushException.Code.NO_IDS);
            client.notifyOpening("12345", "f0190");
            client.notifyReceive("99", "f0191");
            client.recordConversion("bought it & more", 19.99);
            PushClient later = Samples.client(server, storage);
            later.recordConversion("again", null);
            later.recordConversion("nothing", Double.NaN);
            List<String> expected = new ArrayList<>();
            expected.add("GET /r/?id=h3039,f0190,2");
            expected.add("GET /r/?id=h63,f0191,1");
            expected.add("GET /r/?id=h3039,f0190,4&name=bought%20it%20%26%20more&value=19.99");
            expected.add("GET /r/?id=h3039,f0190,4&name=again");
            expected.add("GET /r/?id=h3039,f0190,4&name=nothing");
            Check.equal(uris(server), expected);
        }
    }

    void testARefusedHitIsDropped() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            server.next(404, "no");
            Check.equal(Check.refused(() -> client.notifyReceive("1", "d")).getErrorString(), "no");
            client.notifyReceive("2", "d");
            Check.equal(server.seen.size(), 2);
        }
    }

    void testABusyServerGetsItLater() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            server.next(503, "");
            server.next(503, "");
            Check.refused(() -> client.notifyReceive("1", "d"));
            Check.eventually(() -> server.seen.size() == 3, "retries");
            client.notifyReceive("2", "d");
            Check.equal(uris(server).get(3), "GET /r/?id=h2,d,1");
        }
    }

    void testHitsOutliveTheProcessInOrder() throws Exception {
        Storage storage = new MemoryStorage();
        PushClient offline = new PushClient(request -> {
            throw new IOException("offline");
        });
        offline.setStorage(storage);
        offline.setTrackingHost("host");
        Check.equal(Check.lost(() -> offline.notifyReceive("1", "d")).getMessage(), "offline");
        Check.lost(() -> offline.notifyOpening("1", "d"));
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, storage);
            client.notifyReceive("2", "d");
            List<String> expected = new ArrayList<>();
            expected.add("GET /r/?id=h1,d,1");
            expected.add("GET /r/?id=h1,d,2");
            expected.add("GET /r/?id=h2,d,1");
            Check.equal(uris(server), expected);
            Check.equal(storage.read(Tracker.NAME), "");
        }
    }

    void testRetryNow() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.patientClient(server, new MemoryStorage());
            server.next(503, "");
            Check.refused(() -> client.notifyReceive("1", "d"));
            client.retryNow();
            Check.eventually(() -> server.seen.size() == 2, "the retry");
        }
    }

    void testNewHitsDuringAPauseAreOnlyQueuedAndCostNoTry() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.patientClient(server, new MemoryStorage());
            server.next(503, "busy");
            Check.equal(Check.refused(() -> client.notifyReceive("1", "d")).getErrorString(), "busy");
            for (int number = 2; number <= 3 * TrackingQueue.MOST_REFUSALS; number++) {
                String id = Integer.toString(number);
                Check.equal(Check.refused(() -> client.notifyReceive(id, "d")).getErrorString(), "busy");
            }
            Check.equal(server.seen.size(), 1);
            for (int tries = 2; tries < TrackingQueue.MOST_REFUSALS; tries++) {
                int wanted = tries;
                server.next(503, "busy");
                client.retryNow();
                Check.eventually(() -> server.seen.size() == wanted, "a try");
            }
            client.retryNow();
            int all = 4 * TrackingQueue.MOST_REFUSALS - 1;
            Check.eventually(() -> server.seen.size() == all, "all hits");
            Check.equal(uris(server).get(TrackingQueue.MOST_REFUSALS - 1), "GET /r/?id=h1,d,1");
            Check.equal(uris(server).get(TrackingQueue.MOST_REFUSALS), "GET /r/?id=h2,d,1");
        }
    }

    void testAHitThatTheServerAlwaysFailsAtIsGivenUp() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.patientClient(server, new MemoryStorage());
            for (int tries = 1; tries <= TrackingQueue.MOST_REFUSALS; tries++) {
                int wanted = tries;
                server.next(503, "busy");
                if (tries == 1) {
                    Check.refused(() -> client.notifyReceive("1", "d"));
                    Check.refused(() -> client.notifyReceive("2", "d"));
                } else {
                    client.retryNow();
                }
                Check.eventually(() -> server.seen.size() == wanted, "a try");
            }
            // The server still gets no request.
            Check.refused(() -> client.notifyReceive("3", "d"));
            Check.equal(server.seen.size(), TrackingQueue.MOST_REFUSALS);
            client.retryNow();
            Check.eventually(() -> server.seen.size() == TrackingQueue.MOST_REFUSALS + 2, "the others");
            Check.equal(uris(server).get(TrackingQueue.MOST_REFUSALS), "GET /r/?id=h2,d,1");
        }
    }

    void testWhatTheServerAsksForIsObeyed() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            server.next(503, "busy", "3600");
            Check.refused(() -> client.notifyReceive("1", "d"));
            client.retryNow();
            Check.refused(() -> client.notifyReceive("2", "d"));
            Check.equal(server.seen.size(), 1);
            try (TestServer other = new TestServer()) {
                client.setTrackingHost(other.base());
                Check.eventually(() -> other.seen.size() == 2, "the hits, by another server");
            }
        }
    }
}
