package com.google.firebase.messaging;

import java.util.HashMap;
import java.util.Map;

/** A message as it arrives. */
public final class RemoteMessage {
    private final Map<String, String> data;

    private RemoteMessage(Map<String, String> data) {
        this.data = data;
    }

    public String getFrom() {
        return "12345";
    }

    public Map<String, String> getData() {
        return data;
    }

    /** Makes one. */
    public static class Builder {
        private final Map<String, String> data = new HashMap<>();

        public Builder(String to) {
        }

        public Builder addData(String name, String value) {
            data.put(name, value);
            return this;
        }

        public RemoteMessage build() {
            return new RemoteMessage(data);
        }
    }
}
