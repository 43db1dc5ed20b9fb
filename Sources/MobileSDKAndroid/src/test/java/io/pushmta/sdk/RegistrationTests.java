package io.pushmta.sdk;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Registrations against a server. */
final class RegistrationTests {
    private static void register(PushClient client, String userKey) throws Exception {
        client.registerDevice("testToken", userKey, Samples.PARAMETERS, Samples.device());
    }

    void testTheRequest() throws Exception {
        try (TestServer server = new TestServer()) {
            register(Samples.client(server, new MemoryStorage()), "testUser");
            TestServer.Seen seen = server.seen.get(0);
            Check.equal(seen.method, "POST");
            Check.equal(seen.uri, "/nms/mobile/1/registerAndroid.jssp");
            Check.equal(seen.contentType, "application/x-www-form-urlencoded;charset=UTF-8");
            Check.equal(seen.contentLength, String.valueOf(Samples.BODY.length()));
            Check.equal(seen.body, Samples.BODY);
        }
    }

    void testMissingSettings() throws Exception {
        PushClient client = new PushClient(new HttpTransport());
        Check.equal(Check.refused(() -> register(client, "u")).getErrorCode(), PushException.Code.MARKETING_HOST_EMPTY);
        client.setMarketingHost("host");
        PushException error = Check.refused(() -> register(client, "u"));
        Check.equal(error.getErrorCode(), PushException.Code.INTEGRATION_KEY_EMPTY);
        Check.isTrue(error.getErrorString().contains("setIntegrationKey"), "it says what to do");
    }

    void testRefusals() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.patientClient(server, new MemoryStorage());
            server.next(404, "Unknown integration key\n");
            PushException error = Check.refused(() -> register(client, "u"));
            Check.equal(error.getErrorCode(), PushException.Code.UNKNOWN_INTEGRATION_KEY);
            Check.equal(error.getErrorString(), "Unknown integration key");
            server.next(400, "Malformed token\nmore");
            error = Check.refused(() -> register(client, "u"));
            Check.equal(error.getErrorCode(), PushException.Code.UNEXPECTED_ERROR);
            Check.equal(error.getErrorString(), "Malformed token");
            for (int status : new int[] {201, 204, 403, 405, 413, 500, 503}) {
                server.next(status, "");
                error = Check.refused(() -> register(client, "u"));
                Check.equal(error.getErrorString(), "HTTP status " + status);
            }
            register(client, "u");
            Check.equal(server.seen.size(), 10);
        }
    }

    /** A redirect is not a success: its target has not received the registration. */
    void testRedirectsAreNotFollowed() throws Exception {
        for (int status : new int[] {301, 302, 303, 307, 308}) {
            try (TestServer server = new TestServer()) {
                PushClient client = Samples.client(server, new MemoryStorage());
                server.next(status, "");
                PushException error = Check.refused(() -> register(client, "u"));
                Check.equal(error.getErrorString(), "HTTP status " + status);
                Check.eventually(() -> server.seen.size() == 2, "sent again");
                for (TestServer.Seen seen : server.seen) {
                    Check.equal(seen.method + " " + seen.uri, "POST /nms/mobile/1/registerAndroid.jssp");
                }
            }
        }
    }

    /** An opt-out is sent with every registration of the user, an opt-in once, and no choice never. */
    void testOptOut() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            PushClient client = Samples.client(server, storage);
            register(client, "ada");
            client.setOptOut(true);
            client.setOptOut(true);
            PushClient next = Samples.client(server, storage);
            register(next, "ada");
            next.refreshToken("newToken");
            register(next, "ben");
            register(next, "ada");
            next.setOptOut(false);
            next.setOptOut(false);
            register(next, "ada");
            next.refreshToken("newestToken");
            String[] ends = {"", "&optOut=true", "&optOut=true", "", "&optOut=true", "&optOut=false", "&optOut=false", ""};
            Check.equal(server.seen.size(), ends.length);
            for (int index = 0; index < ends.length; index++) {
                Check.isTrue(server.seen.get(index).body.endsWith("additionalParameters%3E" + ends[index]), "request " + index);
            }
        }
    }

    /** A choice made before the first registration, or while the server is busy, is kept and sent again. */
    void testAnOptOutIsKept() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            Samples.client(server, storage).setOptOut(true);
            PushClient client = Samples.client(server, storage);
            server.next(503, "");
            Check.refused(() -> register(client, "ada"));
            Check.eventually(() -> server.seen.size() == 2, "sent again");
            client.forgetRegistration();
            client.setOptOut(false);
            server.next(400, "no");
            Check.refused(() -> register(client, "ada"));
            register(client, "ada");
            String[] ends = {"true", "true", "false", "false"};
            Check.equal(server.seen.size(), ends.length);
            for (int index = 0; index < ends.length; index++) {
                Check.isTrue(server.seen.get(index).body.endsWith("&optOut=" + ends[index]), "request " + index);
            }
        }
    }

    /** The time zone is sent only if the app says so, and with a new token too. */
    void testTheTimeZoneIsAChoiceOfTheApp() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            PushClient client = Samples.client(server, storage);
            register(client, "ada");
            client.registerDevice("testToken", "ada", null, Samples.device().withTimeZone("Europe/Paris"));
            Samples.client(server, storage).refreshToken("newToken");
            client.forgetRegistration();
            client.setSendsTimeZone(true);
            register(client, "ada");
            String own = "&timeZone=" + PercentEncoder.encode(java.util.TimeZone.getDefault().getID());
            String[] ends = {"", "&timeZone=Europe%2FParis", "&timeZone=Europe%2FParis", own};
            Check.equal(server.seen.size(), ends.length);
            for (int index = 0; index < ends.length; index++) {
                Check.isTrue(server.seen.get(index).body.endsWith("additionalParameters%3E" + ends[index]), "request " + index);
            }
        }
    }

    /** An opt-out from a category is sent with every registration of the user, an opt-in once. */
    void testOptOutOfCategories() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            Samples.client(server, storage).setOptOut("news", true);
            PushClient client = Samples.client(server, storage);
            register(client, "ada");
            register(client, "ada");
            client.setOptOut("marketing", true);
            PushClient next = Samples.client(server, storage);
            register(next, "ada");
            register(next, "ben");
            register(next, "ada");
            server.next(400, "no");
            Check.refused(() -> next.setOptOut("news", false));
            next.refreshToken("newToken");
            next.refreshToken("newestToken");
            next.setOptOut(true);
            next.setOptOut("marketing", false);
            next.refreshToken("lastToken");
            String[] ends = {
                "&categoriesOptOut=news", "&categoriesOptOut=marketing%2Cnews", "", "&categoriesOptOut=marketing%2Cnews",
                "&categoriesOptOut=marketing&categoriesOptIn=news", "&categoriesOptOut=marketing&categoriesOptIn=news",
                "&categoriesOptOut=marketing", "&optOut=true&categoriesOptOut=marketing", "&optOut=true&categoriesOptIn=marketing",
                "&optOut=true",
            };
            Check.equal(server.seen.size(), ends.length);
            for (int index = 0; index < ends.length; index++) {
                Check.isTrue(server.seen.get(index).body.endsWith("additionalParameters%3E" + ends[index]), "request " + index);
            }
        }
    }

    void testTheSameIsSentOnce() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            PushClient client = Samples.client(server, storage);
            register(client, "one");
            register(client, "one");
            register(Samples.client(server, storage), "one");
            Check.equal(server.seen.size(), 1);
            register(client, "two");
            client.registerDevice("testToken", "two", Collections.singletonMap("key", "other"), Samples.device());
            client.setIntegrationKey("other");
            register(client, "two");
            Check.equal(server.seen.size(), 4);
            client.forgetRegistration();
            register(client, "two");
            Check.equal(server.seen.size(), 5);
        }
    }

    void testTriedAgainUntilTheServerHasIt() throws Exception {
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new MemoryStorage());
            server.next(503, "busy");
            server.next(500, "");
            server.next(429, "");
            server.next(0, "");
            PushException error = Check.refused(() -> register(client, "testUser"));
            Check.equal(error.getErrorString(), "busy");
            // The platform's client may resend a request when the server closes the connection.
            Check.eventually(() -> server.seen.size() >= 5, "retries");
            register(client, "testUser");
            int count = server.seen.size();
            register(client, "testUser");
            Check.equal(server.seen.size(), count);
            for (TestServer.Seen seen : server.seen) {
                Check.equal(seen.body, Samples.BODY);
            }
        }
    }

    void testOffLineItIsTriedAgain() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        PushClient client = new PushClient(request -> {
            if (tries.incrementAndGet() < 4) {
                throw new IOException("offline");
            }
            return new HttpAnswer(200, "", null);
        }, 1, 5);
        client.setMarketingHost("host");
        client.setTrackingHost("host");
        client.setIntegrationKey("key");
        Check.equal(Check.lost(() -> register(client, "u")).getMessage(), "offline");
        Check.eventually(() -> tries.get() == 4, "retries of the registration");
        register(client, "u");
        Check.equal(tries.get(), 4);
        tries.set(0);
        Check.equal(Check.lost(() -> client.notifyReceive("1", "d")).getMessage(), "offline");
        Check.eventually(() -> tries.get() == 4, "retries of the hit");
    }

    /** The process may end at any moment: what is sent is on disk, and what the server had no longer counts. */
    void testStoredBeforeItIsSent() throws Exception {
        Storage storage = new MemoryStorage();
        List<String> stored = new CopyOnWriteArrayList<>();
        PushClient client = new PushClient(request -> {
            stored.add(storage.read(Registrar.NAME));
            return new HttpAnswer(200, "", null);
        });
        client.setStorage(storage);
        client.setMarketingHost("host");
        client.setIntegrationKey("key");
        register(client, "one");
        Check.isTrue(storage.read(Registrar.NAME).contains("registered="), "the outcome is stored too");
        register(client, "two");
        Check.equal(stored.size(), 2);
        for (String text : stored) {
            Check.isTrue(text.contains("pending=true") && !text.contains("registered="), text);
        }
        Check.isTrue(stored.get(1).contains("userKey=two"), "the newest");
    }

    void testWhatIsQueuedOutlivesTheProcess() throws Exception {
        File folder = Files.createTempDirectory("pushmta-sdk").toFile();
        try (TestServer server = new TestServer()) {
            String base = server.base();
            server.close();
            PushClient offline = new PushClient(new HttpTransport(20));
            offline.setStorage(new FileStorage(folder));
            offline.setMarketingHost(base);
            offline.setIntegrationKey("testIntegrationKey");
            IOException error = Check.lost(() -> register(offline, "testUser"));
            Check.isTrue(error.getMessage() != null, "says why");
        }
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, new FileStorage(folder));
            Check.eventually(() -> server.seen.size() == 1, "sent as soon as the settings are there");
            Check.equal(server.seen.get(0).body, Samples.BODY);
            register(client, "testUser");
            Check.equal(server.seen.size(), 1);
        }
        for (File file : folder.listFiles()) {
            Check.isTrue(file.delete(), "cleaned up");
        }
        Check.isTrue(folder.delete(), "cleaned up");
    }

    void testANewTokenTakesThePlaceOfTheOldOne() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            PushClient first = Samples.client(server, storage);
            Check.equal(Check.refused(() -> first.refreshToken("newToken")).getErrorCode(),
                    PushException.Code.NOTHING_REGISTERED);
            register(first, "testUser");
            Samples.client(server, storage).refreshToken("newToken");
            Check.equal(server.seen.size(), 2);
            Check.equal(server.seen.get(1).body, Samples.BODY.replace("=testToken&", "=newToken&"));
        }
    }

    /** An app that only passes on the new token, as with Adobe's SDK. */
    void testANewTokenWithoutParametersKeepsThoseOfTheOldOne() throws Exception {
        try (TestServer server = new TestServer()) {
            Storage storage = new MemoryStorage();
            PushClient first = Samples.client(server, storage);
            first.registerDevice("testToken", "testUser", Samples.PARAMETERS, Samples.device());
            PushClient client = Samples.client(server, storage);
            client.registerDevice("newToken", "testUser", null, Samples.device());
            String refreshed = Samples.BODY.replace("=testToken&", "=newToken&");
            Check.equal(server.seen.get(1).body, refreshed);
            // The next start sends nothing more.
            client.registerDevice("newToken", "testUser", null, Samples.device());
            Check.equal(server.seen.size(), 2);
            client.registerDevice("newToken", "testUser", Collections.emptyMap(), Samples.device());
            String bare = refreshed.substring(0, refreshed.indexOf("&additionalParams="))
                    + "&additionalParams=" + PercentEncoder.encode(ParametersXml.document(null));
            Check.equal(server.seen.get(2).body, bare);
            client.registerDevice("testToken", "testUser", Samples.PARAMETERS, Samples.device());
            client.registerDevice("newToken", "testUser", Collections.emptyMap(), Samples.device());
            Check.equal(server.seen.get(4).body, bare);
            client.registerDevice("testToken", "testUser", Samples.PARAMETERS, Samples.device());
            client.registerDevice("newToken", "other", null, Samples.device());
            Check.equal(server.seen.get(6).body, bare.replace("=testUser&", "=other&"));
        }
    }

    /** A disk that is full, and one that cannot be read. */
    void testABrokenStorage() throws Exception {
        Storage broken = new Storage() {
            @Override
            public String read(String name) throws IOException {
                throw new IOException("broken");
            }

            @Override
            public void write(String name, String text) throws IOException {
                throw new IOException("full");
            }
        };
        try (TestServer server = new TestServer()) {
            PushClient client = Samples.client(server, broken);
            register(client, "testUser");
            register(client, "testUser");
            client.notifyReceive("12345", "f0190");
            Check.equal(server.seen.size(), 2);
        }
    }
}
