import PushCore

/// Code for an app's developer to paste: the hosts and the integration key, as each SDK takes them (Config/sdk.md).
struct SDKSnippet: Sendable {
    /// The name of the SDK; never translated.
    let name: String
    let code: String

    /// The host in the code: only the site knows the name under which devices reach its web process.
    static let host = "push.example.com"

    /// The snippets for a platform's SDKs.
    static func all(_ platform: Platform, key: String) -> [SDKSnippet] {
        let key = literal(key)
        return platform == .ios ? ios(key) : android(key)
    }

    private static func ios(_ key: String) -> [SDKSnippet] {
        [
            SDKSnippet(
                name: "PushMTA for Swift",
                code: """
                    let client = PushClient.shared
                    client.setMarketingHost("https://\(host)")
                    client.setTrackingHost("https://\(host)")
                    client.setIntegrationKey(\(key))
                    """
            ),
            SDKSnippet(
                name: "Adobe Campaign SDK (Objective-C)",
                code: """
                    Neolane_SDK *nl = [Neolane_SDK getInstance];
                    [nl setMarketingHost:@"https://\(host)/"];
                    [nl setTrackingHost:@"https://\(host)/"];
                    [nl setIntegrationKey:@\(key)];
                    """
            ),
            SDKSnippet(
                name: "AEP Mobile SDK (Swift)",
                code: """
                    MobileCore.registerExtensions([CampaignClassic.self]) {
                        MobileCore.updateConfigurationWith(configDict: [
                            "global.privacy": "optedin",
                            "campaignclassic.marketingServer": "\(host)",
                            "campaignclassic.trackingServer": "\(host)",
                            "campaignclassic.ios.integrationKey": \(key),
                            "campaignclassic.timeout": 30,
                        ])
                    }
                    """
            ),
        ]
    }

    private static func android(_ key: String) -> [SDKSnippet] {
        [
            SDKSnippet(
                name: "PushMTA for Android (Java)",
                code: """
                    PushMTA.start(this, \(key), "https://\(host)", "https://\(host)");
                    """
            ),
            SDKSnippet(
                name: "Adobe Campaign SDK (Java)",
                code: """
                    Neolane.getInstance().setIntegrationKey(\(key));
                    Neolane.getInstance().setMarketingHost("https://\(host)/");
                    Neolane.getInstance().setTrackingHost("https://\(host)/");
                    """
            ),
            SDKSnippet(
                name: "AEP Mobile SDK (Java)",
                code: """
                    MobileCore.setApplication(this);
                    MobileCore.registerExtensions(Collections.singletonList(CampaignClassic.EXTENSION), ignored -> {
                        Map<String, Object> configuration = new HashMap<>();
                        configuration.put("global.privacy", "optedin");
                        configuration.put("campaignclassic.marketingServer", "\(host)");
                        configuration.put("campaignclassic.trackingServer", "\(host)");
                        configuration.put("campaignclassic.android.integrationKey", \(key));
                        MobileCore.updateConfiguration(configuration);
                    });
                    """
            ),
        ]
    }

    /// A text as a literal valid in Swift, Objective-C and Java: a key may contain quotation marks.
    private static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
