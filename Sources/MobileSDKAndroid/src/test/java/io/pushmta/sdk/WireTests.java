package io.pushmta.sdk;

import java.net.HttpURLConnection;

/** The test vectors of Adobe's Android SDK, and server addresses. */
final class WireTests {
    void testUrlEncoder() {
        Check.equal(PercentEncoder.encode("~!@#$%^&*()-+=|}{][\\/.<,>"),
                "~%21%40%23%24%25%5E%26%2A%28%29-%2B%3D%7C%7D%7B%5D%5B%5C%2F.%3C%2C%3E");
        Check.equal(PercentEncoder.encode("\u7f51"), "%E7%BD%91");
        Check.equal(PercentEncoder.encode(" "), "%20");
    }

    void testDecoderReadsWhatTheEncoderWrote() {
        String text = "a b\n\u7f51\0%+&=~";
        Check.equal(PercentEncoder.decode(PercentEncoder.encode(text)), text);
        for (String damaged : new String[] {"%", "%4", "%zz", "a b", "%e7", "+", "\u7f51"}) {
            Check.equal(PercentEncoder.decode(damaged), null);
        }
    }

    void testRegistrationBody() {
        Check.equal(Samples.registration("testUser", Samples.PARAMETERS).body("testIntegrationKey"), Samples.BODY);
    }

    void testRegistrationHash() {
        Check.equal(Samples.registration("testUser", Samples.PARAMETERS).hash(),
                "b1315b4b0514a6092451017162124d59dea702370eed96077e3d524fe6ce899d");
    }

    /** Adobe's hash is equal for these two. */
    void testUserKeysOutsideLatinAreToldApart() {
        Registration first = Samples.registration("\u7f51", null);
        Registration second = Samples.registration("\u7edc", null);
        Check.equal(first.hash(), second.hash());
        Check.isTrue(!first.mark().equals(second.mark()), "the second would never be sent");
    }

    void testUserKey() {
        Check.isTrue(Samples.registration("user@email.com", null).body("k").contains("userKey=user%40email.com&"), "mail");
        for (String none : new String[] {null, "", "  "}) {
            Check.isTrue(Samples.registration(none, null).body("k").contains("userKey=&"), "blank means none");
        }
    }

    void testLanguage() {
        DeviceInfo device = new DeviceInfo(null, null, null, null, null, null, "zh_CN_#Hans");
        Check.equal(device.language, "zh-CN-#Hans");
        Check.equal(device.id, "");
    }

    void testTimeouts() throws Exception {
        HttpURLConnection connection =
                new HttpTransport(20).open(new HttpRequest("GET", "https://testTrackingServer/", null, null));
        Check.equal(connection.getConnectTimeout(), 20_000);
        Check.equal(connection.getReadTimeout(), 20_000);
        Check.equal(new HttpTransport().open(new HttpRequest("GET", "https://a/", null, null)).getReadTimeout(), 30_000);
    }

    void testHosts() {
        Check.equal(ServerHost.base("testMarketingServer") + Registration.PATH,
                "https://testMarketingServer/nms/mobile/1/registerAndroid.jssp");
        Check.equal(ServerHost.base(" https://host:8443/ "), "https://host:8443");
        Check.equal(ServerHost.base("host.example.com:443/push/"), "https://host.example.com:443/push");
        Check.equal(ServerHost.base("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
        String[] none = {null, "", " ", "https://", "ftp://host", "https://host/?a=b", "https://h/#a", "///", "a b", "a\r\nb"};
        for (String text : none) {
            Check.equal(ServerHost.base(text), null);
        }
    }

    void testReasons() {
        Check.equal(new HttpAnswer(400, "first\r\nsecond", null).reason(), "first");
        Check.equal(new HttpAnswer(400, "\n\n  third \n", null).reason(), "third");
        Check.equal(new HttpAnswer(502, "<html>\n<body>", null).reason(), "HTTP status 502");
        Check.equal(new HttpAnswer(502, null, null).reason(), "HTTP status 502");
        Check.equal(new HttpAnswer(429, "", " 120 ").retryAfterMillis(), 120_000L);
        Check.equal(new HttpAnswer(429, "", "9223372036854775807").retryAfterMillis(), BackOff.LONGEST_ASKED_MILLIS);
        for (String nonsense : new String[] {null, "-5", "soon", "", "1e9"}) {
            Check.equal(new HttpAnswer(429, "", nonsense).retryAfterMillis(), 0L);
        }
    }
}
