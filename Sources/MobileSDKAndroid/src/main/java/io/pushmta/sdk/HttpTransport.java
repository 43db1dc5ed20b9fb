package io.pushmta.sdk;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;

/** Sends requests with the platform's own client. */
public final class HttpTransport implements Transport {
    /** The time of Adobe's SDK. */
    public static final int TIMEOUT_SECONDS = 30;
    /** More than the first line of an answer is not looked at. */
    private static final int LONGEST_BODY = 4 * HttpAnswer.LONGEST_REASON;

    private final int timeoutMillis;

    /** Makes a transport with the usual time. */
    public HttpTransport() {
        this(TIMEOUT_SECONDS);
    }

    /** Makes a transport; the time is that for connecting, and that for each read. */
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
                throw new IOException("The server's answer is no HTTP");
            }
            return new HttpAnswer(status, body(connection, status), connection.getHeaderField("Retry-After"));
        } catch (RuntimeException error) {
            // The platform's client throws these for some broken answers.
            throw new IOException(error);
        } finally {
            connection.disconnect();
        }
    }

    /** The connection before anything is sent. */
    HttpURLConnection open(HttpRequest request) throws IOException {
        URLConnection opened = new URL(request.getUrl()).openConnection();
        if (!(opened instanceof HttpURLConnection)) {
            throw new IOException("The address is none of HTTP");
        }
        HttpURLConnection connection = (HttpURLConnection) opened;
        connection.setRequestMethod(request.getMethod());
        connection.setConnectTimeout(timeoutMillis);
        connection.setReadTimeout(timeoutMillis);
        // A tracking hit that a cache answers is lost.
        connection.setUseCaches(false);
        // A registration becomes a GET of some page on its way: the page's 200 would say that the server has it.
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
            // The status is there, and that is the answer; the body only explains it.
            return "";
        }
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
    }
}
