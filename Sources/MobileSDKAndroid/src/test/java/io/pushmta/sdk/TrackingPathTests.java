package io.pushmta.sdk;

/** The test vectors of Adobe's Android SDK for tracking. */
final class TrackingPathTests {
    private static void tracks(String messageId, String hex) {
        Check.equal(ServerHost.base("testTrackingServer") + TrackingPath.path(messageId, "testDeliveryId", TrackingPath.RECEIVE),
                "https://testTrackingServer/r/?id=h" + hex + ",testDeliveryId,1");
        Check.equal(TrackingPath.path(messageId, "testDeliveryId", TrackingPath.CLICK),
                "/r/?id=h" + hex + ",testDeliveryId,2");
    }

    void testIds() {
        tracks("12345", "3039");
        tracks(Samples.UUID, Samples.UUID);
        tracks(Samples.UUID.toUpperCase(java.util.Locale.ROOT), Samples.UUID.toUpperCase(java.util.Locale.ROOT));
        tracks("-673096100", "d7e15e5c");
        tracks("673096100", "281ea1a4");
        tracks("57904851586134", "34aa061c0c56");
        tracks("2147483648", "80000000");
        tracks("9223372036854775807", "7fffffffffffffff");
        tracks("-2147483649", "ffffffff7fffffff");
    }

    void testNoIds() {
        for (String id : new String[] {"1-1-1-1-1", "a8a", "", null, "9223372036854775808", " 1", "1.5"}) {
            Check.equal(TrackingPath.path(id, "testDeliveryId", TrackingPath.CLICK), null);
        }
        for (String delivery : new String[] {null, "", "a b", "a\r\nHost: x", "a#b", "\u007f"}) {
            Check.equal(TrackingPath.path("12345", delivery, TrackingPath.CLICK), null);
        }
    }
}
