package io.pushmta.sdk;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An HTTP server on a free port of 127.0.0.1 that gives the answers a test queued, and otherwise 200. */
final class TestServer implements AutoCloseable {
    /** A request as it arrived. */
    static final class Seen {
        final String method;
        final String uri;
        final String contentType;
        final String contentLength;
        final String body;

        Seen(HttpExchange exchange, String body) {
            method = exchange.getRequestMethod();
            uri = exchange.getRequestURI().toString();
            contentType = exchange.getRequestHeaders().getFirst("Content-Type");
            contentLength = exchange.getRequestHeaders().getFirst("Content-Length");
            this.body = body;
        }
    }

    private static final class Answer {
        final int status;
        final String body;
        final String retryAfter;

        Answer(int status, String body, String retryAfter) {
            this.status = status;
            this.body = body;
            this.retryAfter = retryAfter;
        }
    }

    final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final List<Answer> answers = new ArrayList<>();
    private final HttpServer server;

    TestServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    String base() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /** Queues an answer; status 0 closes the connection. */
    void next(int status, String body) {
        next(status, body, null);
    }

    /** The same with the header {@code Retry-After}. */
    synchronized void next(int status, String body, String retryAfter) {
        answers.add(new Answer(status, body, retryAfter));
    }

    private synchronized Answer take() {
        return answers.isEmpty() ? new Answer(200, "registered", null) : answers.remove(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (InputStream input = exchange.getRequestBody()) {
            byte[] part = new byte[4096];
            for (int count = input.read(part); count >= 0; count = input.read(part)) {
                body.write(part, 0, count);
            }
        }
        Answer answer = take();
        seen.add(new Seen(exchange, new String(body.toByteArray(), StandardCharsets.UTF_8)));
        if (answer.retryAfter != null) {
            exchange.getResponseHeaders().set("Retry-After", answer.retryAfter);
        }
        if (answer.status != 0) {
            byte[] bytes = answer.body.getBytes(StandardCharsets.UTF_8);
            if (answer.status >= 300 && answer.status < 400) {
                exchange.getResponseHeaders().set("Location", "/login");
            }
            exchange.sendResponseHeaders(answer.status, bytes.length == 0 ? -1 : bytes.length);
            if (bytes.length > 0) {
                exchange.getResponseBody().write(bytes);
            }
        }
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
