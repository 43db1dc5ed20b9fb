package io.pushmta.sdk;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A device on the command line, for a running server: {@code LiveMain BASE KEY TOKEN USER [MESSAGE DELIVERY]}.
 * Registers the device. Given the ids of a message, reports its receipt and a click. Prints a line for each step, and
 * exits with 1 after the first failure.
 */
public final class LiveMain {
    private LiveMain() {
    }

    public static void main(String[] arguments) {
        if (arguments.length != 4 && arguments.length != 6) {
            System.out.println("BASE KEY TOKEN USER [MESSAGE DELIVERY]");
            System.exit(2);
        }
        PushClient client = PushClient.getInstance();
        client.setMarketingHost(arguments[0]);
        client.setTrackingHost(arguments[0]);
        client.setIntegrationKey(arguments[1]);
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("greeting", "'h>e&l\"l<o' \u7f51");
        parameters.put("points", 3233);
        try {
            client.registerDevice(arguments[2], arguments[3], parameters, Samples.device());
            System.out.println("registered");
            if (arguments.length == 6) {
                client.notifyReceive(arguments[4], arguments[5]);
                System.out.println("received");
                client.notifyOpening(arguments[4], arguments[5]);
                System.out.println("clicked");
            }
        } catch (PushException error) {
            System.out.println(error.getErrorCode() + " " + error.getErrorString());
            System.exit(1);
        } catch (IOException error) {
            System.out.println("no answer: " + error.getMessage());
            System.exit(1);
        }
    }
}
