import PushCore
import Store
import Testing

@testable import Supervisor

/// Credentials that a gateway would refuse are detected before a delivery starts.
@Suite struct PreparationCredentialTests {
    private func problem(_ connector: Connector, _ kind: CredentialKind?, secondsLeft: Double? = nil) -> String? {
        let platform = connector.platform
        let application = ApplicationRow(
            id: 1,
            serviceID: 1,
            name: "shop",
            label: "",
            platform: platform,
            environment: .production,
            integrationKey: "k",
            bundleID: "com.shop",
            messageIDFormat: .uuid,
            accountID: 1,
            credentialID: kind == nil ? nil : 1,
            variables: "[]"
        )
        let account = AccountRow(
            id: 1,
            name: "way",
            connector: connector,
            host: "h",
            port: 443,
            options: "{}",
            active: true
        )
        let credential = kind.map {
            CredentialNotice(
                id: 1,
                kind: $0,
                name: "shop-1",
                sealKeyID: "k",
                fingerprint: "f",
                secondsLeft: secondsLeft
            )
        }
        return PreparationCheck.problem(
            with: PreparationJob(
                deliveryID: 16,
                label: "",
                content: #"{"ios":{"title":"x"},"android":{"title":"x"}}"#,
                applications: [application],
                accounts: [account],
                credentials: [credential]
            )
        )
    }

    @Test func oneThatIsOverIsNamed() {
        let over = problem(.iosHTTP2, .apnsCertificate, secondsLeft: -90_000)
        #expect(over?.contains("'shop': its credential expired 25 hours ago") == true)
        #expect(over?.contains("pushmta credential set") == true)
        #expect(problem(.iosHTTP2, .apnsCertificate, secondsLeft: 60) == nil)
        #expect(problem(.androidV2, .fcmServiceAccount) == nil)
    }

    @Test(arguments: [
        (Connector.iosHTTP2, CredentialKind.apnsKey, true), (.iosHTTP2, .apnsCertificate, true),
        (.iosBinary, .apnsCertificate, true), (.iosBinary, .apnsKey, false), (.iosHTTP2, .fcmServiceAccount, false),
        (.androidV1, .fcmServiceAccount, true), (.androidV1, .fcmProjectKey, true), (.androidV2, .fcmProjectKey, true),
        (.androidV2, .apnsCertificate, false),
    ])
    func oneOfAnotherKindIsNamed(_ connector: Connector, _ kind: CredentialKind, _ isRight: Bool) {
        let found = problem(connector, kind)
        #expect(
            isRight ? found == nil : found?.contains("which connector \(connector.rawValue)") == true,
            "\(found ?? "")"
        )
    }

    private func problem(_ type: PushType, topics: [String], _ kind: CredentialKind = .apnsCertificate) -> String? {
        let application = ApplicationRow(
            id: 1,
            serviceID: 1,
            name: "shop",
            label: "",
            platform: .ios,
            environment: .production,
            integrationKey: "k",
            bundleID: "com.shop",
            messageIDFormat: .uuid,
            accountID: 1,
            credentialID: 1,
            variables: "[]"
        )
        let rest =
            switch type {
            case .alert: #""title": "x""#
            case .background: #""content_available": true"#
            case .liveactivity: #""aps": {"event": "end", "timestamp": 1}"#
            case .widgets, .controls: #""aps": {"content-changed": true}"#
            default: #""variables": {"a": "b"}"#
            }
        return PreparationCheck.problem(
            with: PreparationJob(
                deliveryID: 16,
                label: "",
                content:
                    #"{"ios": {"title": "x"}, "locales": {"fr": {"ios": {"push_type": "\#(type.rawValue)", \#(rest)}}}}"#,
                applications: [application],
                accounts: [
                    AccountRow(
                        id: 1,
                        name: "way",
                        connector: .iosHTTP2,
                        host: "h",
                        port: 443,
                        options: "{}",
                        active: true
                    )
                ],
                credentials: [
                    CredentialNotice(
                        id: 1,
                        kind: kind,
                        name: "shop-1",
                        sealKeyID: "k",
                        fingerprint: "f",
                        topics: topics
                    )
                ]
            )
        )
    }

    @Test(arguments: PushType.allCases) func aPushTypeNeedsItsTopicInTheCertificate(_ type: PushType) {
        let topic = "com.shop" + type.topicSuffix
        let both = Array(Set(["com.shop", topic]))
        #expect(problem(type, topics: both, .apnsKey) == nil, "a key may send to all topics of its team")
        guard type != .location else {
            for topics in [both, [], ["com.shop"]] {
                #expect(
                    problem(type, topics: topics)?.contains("locales.fr.ios.push_type: APNs accepts push type location")
                        == true
                )
            }
            return
        }
        #expect(problem(type, topics: both) == nil)
        #expect(problem(type, topics: []) == nil, "one for a stand-in gateway names no topics")
        // Whatever the variants for locales say, the content for everyone else is an alert.
        let found = problem(type, topics: [topic + ".more"])
        #expect(found?.contains("push type alert has the topic com.shop, and") == true, "\(found ?? "")")
        guard !type.topicSuffix.isEmpty else { return }
        let lacking = problem(type, topics: ["com.shop"])
        #expect(
            lacking?.contains("locales.fr.ios.push_type: push type \(type.rawValue) has the topic \(topic)") == true,
            "\(lacking ?? "")"
        )
        #expect(problem(type, topics: [topic])?.contains("ios.push_type: push type alert") == true)
    }
}
