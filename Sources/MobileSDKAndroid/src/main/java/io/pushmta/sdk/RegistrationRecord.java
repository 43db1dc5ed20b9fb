package io.pushmta.sdk;

import java.util.HashMap;
import java.util.Map;

/** What outlives the process: what the server has, and what it does not have yet. Written as a form, field by field. */
final class RegistrationRecord {
    /** What the server is known to have: the mark, the server and the integration key; null when nobody knows. */
    String registered;
    /** What is still to be sent, or null. */
    Registration pending;
    /** The newest one that the app asked for, for a new token to take the place of the old one; or null. */
    Registration last;

    /** What {@link #text} wrote. Anything else is an empty record: then the device registers again, which does no harm. */
    static RegistrationRecord read(String text) {
        RegistrationRecord record = new RegistrationRecord();
        Map<String, String> fields = new HashMap<>();
        for (String field : (text == null ? "" : text).split("&")) {
            int equals = field.indexOf('=');
            String value = equals < 0 ? null : PercentEncoder.decode(field.substring(equals + 1));
            if (value == null) {
                return record;
            }
            fields.put(field.substring(0, equals), value);
        }
        record.registered = fields.get("registered");
        record.last = registration(fields);
        record.pending = "true".equals(fields.get("pending")) ? record.last : null;
        return record;
    }

    /** What is pending is always the newest, so the newest alone is written. */
    String text() {
        StringBuilder result = new StringBuilder("version=1");
        append(result, "registered", registered);
        append(result, "pending", pending == null ? null : "true");
        if (last != null) {
            append(result, "token", last.token);
            append(result, "userKey", last.userKey);
            append(result, "parameters", last.parameters);
            append(result, "id", last.device.id);
            append(result, "name", last.device.name);
            append(result, "model", last.device.model);
            append(result, "brand", last.device.brand);
            append(result, "manufacturer", last.device.manufacturer);
            append(result, "systemVersion", last.device.systemVersion);
            append(result, "language", last.device.language);
        }
        return result.toString();
    }

    private static void append(StringBuilder result, String name, String value) {
        if (value != null) {
            result.append('&').append(name).append('=').append(PercentEncoder.encode(value));
        }
    }

    private static Registration registration(Map<String, String> fields) {
        if (fields.get("token") == null || fields.get("parameters") == null) {
            return null;
        }
        DeviceInfo device = new DeviceInfo(fields.get("id"), fields.get("name"), fields.get("model"), fields.get("brand"),
                fields.get("manufacturer"), fields.get("systemVersion"), fields.get("language"));
        return new Registration(fields.get("token"), fields.get("userKey"), fields.get("parameters"), device);
    }
}
