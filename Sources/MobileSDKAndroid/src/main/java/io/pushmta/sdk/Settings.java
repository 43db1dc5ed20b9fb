package io.pushmta.sdk;

import java.util.Objects;

/** The app's settings; several threads read and write them. */
final class Settings {
    private volatile String marketingBase;
    private volatile String trackingBase;
    private volatile String integrationKey;

    /** True if the value changed: apps set the same value again on each screen. */
    synchronized boolean setMarketingHost(String host) {
        String old = marketingBase;
        marketingBase = ServerHost.base(host);
        return !Objects.equals(old, marketingBase);
    }

    /** True when that is something new. */
    synchronized boolean setTrackingHost(String host) {
        String old = trackingBase;
        trackingBase = ServerHost.base(host);
        return !Objects.equals(old, trackingBase);
    }

    /** True when that is something new. */
    synchronized boolean setIntegrationKey(String key) {
        String old = integrationKey;
        integrationKey = key == null || key.isEmpty() ? null : key;
        return !Objects.equals(old, integrationKey);
    }

    String marketingBase() throws PushException {
        return required(marketingBase, PushException.Code.MARKETING_HOST_EMPTY,
                "The marketing host is not set or names no server: call setMarketingHost first");
    }

    String trackingBase() throws PushException {
        return required(trackingBase, PushException.Code.TRACKING_HOST_EMPTY,
                "The tracking host is not set or names no server: call setTrackingHost first");
    }

    String integrationKey() throws PushException {
        return required(integrationKey, PushException.Code.INTEGRATION_KEY_EMPTY,
                "The integration key is not set: call setIntegrationKey first");
    }

    private static String required(String value, PushException.Code code, String message) throws PushException {
        if (value == null) {
            throw new PushException(code, message);
        }
        return value;
    }
}
