package io.pushmta.sdk;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** A registration that an app requests. */
final class Registration {
    /** The path on the marketing server. */
    static final String PATH = "/nms/mobile/1/registerAndroid.jssp";
    /** As Adobe's SDK writes it, without a space. */
    static final String CONTENT_TYPE = "application/x-www-form-urlencoded;charset=UTF-8";

    final String token;
    final String userKey;
    /** The document; null if the app passed no parameters, until {@link RegistrationState#complete}. */
    final String parameters;
    final DeviceInfo device;
    /** The user's opt-out choice; null for no choice. */
    final Boolean optOut;
    /** The user's choices by category, as for everything. */
    final Map<String, Boolean> categories = new TreeMap<>();

    /** Makes a registration without an opt-out choice. */
    Registration(String token, String userKey, String parameters, DeviceInfo device) {
        this(token, userKey, parameters, device, null, null);
    }

    /** Makes a registration; a blank user key means none, and no map means no choice. */
    Registration(String token, String userKey, String parameters, DeviceInfo device, Boolean optOut,
            Map<String, Boolean> categories) {
        this.token = token == null ? "" : token;
        this.userKey = userKey == null || userKey.trim().isEmpty() ? "" : userKey;
        this.parameters = parameters;
        this.device = device;
        this.optOut = optOut;
        if (categories != null) {
            this.categories.putAll(categories);
        }
    }

    /** A copy with other opt-out choices. */
    Registration saying(Boolean newOptOut, Map<String, Boolean> newCategories) {
        return new Registration(token, userKey, parameters, device, newOptOut, newCategories);
    }

    /** A copy without opt-ins, which are sent only once. */
    Registration settled() {
        Registration settled = saying(Boolean.FALSE.equals(optOut) ? null : optOut, categories);
        settled.categories.values().removeAll(Collections.singleton(false));
        return settled;
    }

    /** The names of the categories with this choice, with commas between them. */
    private String names(boolean isOut) {
        StringBuilder names = new StringBuilder();
        for (Map.Entry<String, Boolean> category : categories.entrySet()) {
            if (category.getValue() == isOut) {
                names.append(names.length() == 0 ? "" : ",").append(category.getKey());
            }
        }
        return names.toString();
    }

    /** The form's body. Its order is fixed; without an opt-out choice and a time zone it is that of Adobe's SDK. */
    String body(String integrationKey) {
        String[] fields = {
            "registrationToken", token, "mobileAppUuid", integrationKey, "userKey", userKey, "deviceImei", device.id,
            "deviceName", device.name, "deviceModel", device.model, "deviceBrand", device.brand,
            "deviceManufacturer", device.manufacturer, "osName", "android", "osVersion", device.systemVersion,
            "osLanguage", device.language, "additionalParams", parameters,
        };
        StringBuilder result = new StringBuilder();
        for (int index = 0; index < fields.length; index += 2) {
            result.append(index == 0 ? "" : "&").append(fields[index]).append('=')
                    .append(PercentEncoder.encode(fields[index + 1]));
        }
        if (optOut != null) {
            result.append("&optOut=").append(optOut);
        }
        if (device.timeZone != null) {
            result.append("&timeZone=").append(PercentEncoder.encode(device.timeZone));
        }
        append(result, "categoriesOptOut", names(true));
        append(result, "categoriesOptIn", names(false));
        return result.toString();
    }

    private static void append(StringBuilder result, String name, String names) {
        if (!names.isEmpty()) {
            result.append('&').append(name).append('=').append(PercentEncoder.encode(names));
        }
    }

    /** The mark that Adobe's SDK keeps for a registration. */
    String hash() {
        long id = device.id.hashCode();
        String text = token + userKey + parameters.hashCode() + new UUID(id, id);
        return digest(text, StandardCharsets.ISO_8859_1);
    }

    /**
     * The mark that this SDK keeps. Adobe's mark does not distinguish user keys whose letters are all outside ISO
     * 8859-1, nor parameters with the same {@code hashCode}; a change between these would never be sent.
     */
    String mark() {
        return hash() + digest(token + '\n' + userKey + '\n' + parameters, StandardCharsets.UTF_8)
                + (optOut == null ? "" : optOut ? "out" : "in") + (device.timeZone == null ? "" : device.timeZone)
                + (categories.isEmpty() ? "" : "," + PercentEncoder.encode(names(true)) + "/" + PercentEncoder.encode(names(false)));
    }

    private static String digest(String text, Charset charset) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(charset));
            StringBuilder result = new StringBuilder();
            for (byte value : digest) {
                result.append(String.format(java.util.Locale.ROOT, "%02x", value));
            }
            return result.toString();
        } catch (NoSuchAlgorithmException error) {
            // Every Java platform has SHA-256. Without it, a unique mark makes the SDK send each time.
            return UUID.randomUUID().toString();
        }
    }
}
