package com.neolane.android.v1;

import io.pushmta.sdk.PushException;

/** A setting is missing or the server refused. A missing answer is an {@link java.io.IOException}. */
public final class NeolaneException extends Exception {
    /** The server refused and gave a reason. If it was only busy or broken, the SDK retries. */
    public static final int UNEXPECTED_ERROR = 1;
    /** No valid marketing host was set. */
    public static final int MARKETING_HOST_EMPTY = 2;
    /** No valid tracking host was set. */
    public static final int TRACKING_HOST_EMPTY = 3;
    /** No integration key was set. */
    public static final int INTEGRATION_KEY_EMPTY = 4;
    /** The server has no application with this integration key. */
    public static final int UNKNOWN_INTEGRATION_KEY = 5;
    /** The notification has no valid ids, so there is nothing to track. */
    public static final int NO_IDS = 6;

    private static final long serialVersionUID = 1L;

    private final int errorCode;

    NeolaneException(PushException cause) {
        super(cause.getErrorString(), cause);
        errorCode = number(cause.getErrorCode());
    }

    /** What is wrong: one of the numbers above, which are specific to this SDK. */
    public int getErrorCode() {
        return errorCode;
    }

    /** The description, from the server if it gave one. */
    public String getErrorString() {
        return getMessage();
    }

    private static int number(PushException.Code code) {
        switch (code) {
            case MARKETING_HOST_EMPTY:
                return MARKETING_HOST_EMPTY;
            case TRACKING_HOST_EMPTY:
                return TRACKING_HOST_EMPTY;
            case INTEGRATION_KEY_EMPTY:
                return INTEGRATION_KEY_EMPTY;
            case UNKNOWN_INTEGRATION_KEY:
                return UNKNOWN_INTEGRATION_KEY;
            case NO_IDS:
                return NO_IDS;
            default:
                return UNEXPECTED_ERROR;
        }
    }
}
