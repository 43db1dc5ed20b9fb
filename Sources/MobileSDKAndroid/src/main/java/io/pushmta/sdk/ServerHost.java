package io.pushmta.sdk;

import java.net.MalformedURLException;
import java.net.URL;
import java.util.Locale;

/**
 * The address of a marketing or tracking server, as an app gives it: {@code https://host:port/} as for the old SDK, or
 * {@code host[:port][/path]} as for the newer one, which means https.
 */
final class ServerHost {
    private ServerHost() {
    }

    /** The address without a slash at its end; null if the text is not a valid address. */
    static String base(String text) {
        String base = text == null ? "" : text.trim();
        if (base.isEmpty()) {
            return null;
        }
        if (!base.contains("://")) {
            base = "https://" + base;
        }
        while (base.endsWith("/")) {
            base = base.substring(0, base.length() - 1);
        }
        for (int index = 0; index < base.length(); index++) {
            if (base.charAt(index) <= ' ' || base.charAt(index) == 0x7F) {
                return null;
            }
        }
        try {
            URL url = new URL(base);
            String scheme = url.getProtocol().toLowerCase(Locale.ROOT);
            boolean isWeb = scheme.equals("https") || scheme.equals("http");
            boolean isHost = url.getHost() != null && !url.getHost().isEmpty();
            return isWeb && isHost && url.getQuery() == null && url.getRef() == null ? base : null;
        } catch (MalformedURLException error) {
            return null;
        }
    }
}
