package io.pushmta.sdk;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;

/** Sends requests with the platform's HTTP client. */
public final class HttpTransport implements Transport {
    /** The timeout of Adobe's SDK. */
    public static final int TIMEOUT_SECONDS = 30;
    /** The maximum number of body bytes to read; only the first line is used. */
    private static final int LONGEST_BODY = 4 * HttpAnswer.LONGEST_REASON;

    private final int timeoutMillis;

    /** Makes a transport with the default timeout. */
    public HttpTransport() {
        this(TIMEOUT_SECONDS);
    }

    /** Makes a transport; the timeout is for connecting and for each read. */
    public HttpTransport(int timeoutSeconds) {
        timeoutMillis = (int) Math.min(Math.max(timeoutSeconds, 1) * 1000L, Integer.MAX_VALUE);
    }

    @Override
    public HttpAnswer send(HttpRequest request) throws IOException {
        HttpURLConnection connection = open(request);
        try {
            if (request.getBody() != null) {
                try (OutputStream output = connection.getOutputStream()) {
                    output.write(request.getBody().getBytes(StandardCharsets.UTF_8));
                }
            }
            int status = connection.getResponseCode();
            if (status < 0) {
                throw new IOException("The server's answer is not HTTP");
            }
            return new HttpAnswer(status, body(connection, status), connection.getHeaderField("Retry-After"));
        } catch (RuntimeException error) {
            // The platform's client throws these for some malformed answers.
            throw new IOException(error);
        } finally {
            connection.disconnect();
        }
    }

    /** The connection before anything is sent. */
    HttpURLConnection open(HttpRequest request) throws IOException {
        URLConnection opened = new URL(request.getUrl()).openConnection();
        if (!(opened instanceof HttpURLConnection)) {
            throw new IOException("The address is not an HTTP URL");
        }
        HttpURLConnection connection = (HttpURLConnection) opened;
        connection.setRequestMethod(request.getMethod());
        connection.setConnectTimeout(timeoutMillis);
        connection.setReadTimeout(timeoutMillis);
        // A tracking hit answered by a cache would be lost.
        connection.setUseCaches(false);
        // Following a redirect would turn a registration into a GET of some page, whose 200 would look like success.
        connection.setInstanceFollowRedirects(false);
        connection.setDoOutput(request.getBody() != null);
        if (request.getContentType() != null) {
            connection.setRequestProperty("Content-Type", request.getContentType());
        }
        return connection;
    }

    private static String body(HttpURLConnection connection, int status) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream input = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
            byte[] part = new byte[LONGEST_BODY];
            int count = input == null ? -1 : input.read(part);
            while (count >= 0 && bytes.size() < LONGEST_BODY) {
                bytes.write(part, 0, count);
                count = input.read(part);
            }
        } catch (IOException error) {
            // The status is the answer; the body only explains it.
            return "";
        }
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
    }
}
