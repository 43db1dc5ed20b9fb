package io.pushmta.sdk;

import java.util.Locale;
import java.util.regex.Pattern;

/** The path of a tracking request: {@code /r/?id=h<broad log>,<delivery>,<tag>}. */
final class TrackingPath {
    /** The notification arrived. */
    static final int RECEIVE = 1;
    /** The user clicked or opened it. */
    static final int CLICK = 2;
    /** It was removed, because its delivery was recalled. */
    static final int REMOVE = 3;
    /** The user did what it was sent for. */
    private static final int CONVERSION = 4;

    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    private TrackingPath() {
    }

    /**
     * The path; null if there is nothing to track. The delivery's id is sent back unchanged. An id with blanks or
     * control characters is not one of PushMTA, and would change the request.
     */
    static String path(String messageId, String deliveryId, int tag) {
        String id = messageId == null ? null : messageId(messageId);
        if (id == null || deliveryId == null || deliveryId.isEmpty()) {
            return null;
        }
        for (int index = 0; index < deliveryId.length(); index++) {
            char letter = deliveryId.charAt(index);
            if (letter <= ' ' || letter == 0x7F || letter == '#') {
                return null;
            }
        }
        return "/r/?id=h" + id + "," + deliveryId + "," + tag;
    }

    /** What the path of a click has before its tag. */
    static String opened(String clickPath) {
        return clickPath.substring(0, clickPath.length() - 1);
    }

    /** The path that reports a conversion of the notification whose path begins so. */
    static String conversion(String opened, String name, Double value) {
        String path = opened + CONVERSION + "&name=" + PercentEncoder.encode(name);
        boolean isNumber = value != null && !value.isNaN() && !value.isInfinite();
        return isNumber ? path + "&value=" + PercentEncoder.encode(value.toString()) : path;
    }

    /** A UUID unchanged, or a number in hexadecimal (8 digits if negative and within 32 bits); otherwise null. */
    private static String messageId(String text) {
        if (UUID.matcher(text).matches()) {
            return text;
        }
        try {
            long number = Long.parseLong(text);
            boolean isShort = number < 0 && number >= Integer.MIN_VALUE;
            String hex = isShort ? Integer.toHexString((int) number) : Long.toHexString(number);
            return hex.toLowerCase(Locale.ROOT);
        } catch (NumberFormatException error) {
            return null;
        }
    }
}
