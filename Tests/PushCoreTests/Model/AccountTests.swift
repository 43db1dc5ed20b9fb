import PushCore
import Testing

@Suite("External accounts: addresses and options")
struct AccountTests {
    @Test(
        "Adobe's four addresses stand for their connectors, on whatever host",
        arguments: [
            ("https://localhost:8080/nms/jsp/ios.jsp", Connector.iosBinary),
            ("http://localhost:8080/nms/jsp/iosHTTP2.jsp", .iosHTTP2),
            ("https://localhost:8080/nms/jsp/androidPushConnector.js", .androidV1),
            ("https://localhost:8080/nms/jsp/androidPushConnectorV2.js", .androidV2),
            ("https://marketing.example.com/nms/jsp/ios.jsp", .iosBinary), ("/nms/jsp/iosHTTP2.jsp", .iosHTTP2),
        ]
    )
    func aliases(_ url: String, _ connector: Connector) {
        #expect(ConnectorAlias.connector(url: url) == connector)
    }

    @Test(arguments: [
        "", "ios.jsp", "https://localhost/nms/jsp/", "https://localhost/nms/jsp/IOS.jsp", "https://x/jsp/ios.jsp",
    ])
    func otherAddressesStandForNothing(_ url: String) {
        #expect(ConnectorAlias.connector(url: url) == nil)
    }

    @Test func theKnownAddressesAreAdobes() {
        #expect(ConnectorAlias.known.compactMap(ConnectorAlias.connector).count == 4)
        #expect(ConnectorAlias.known.contains("http://localhost:8080/nms/jsp/iosHTTP2.jsp"))
    }

    @Test(
        arguments: [
            ("{}", Connector.iosBinary), (#"{"ca_file": "/etc/ca.pem"}"#, .androidV1),
            (#"{"connections": 100}"#, .iosHTTP2),
        ]
    )
    func optionsThatAreKnown(_ json: String, _ connector: Connector) {
        #expect(AccountOption.problem(json: json, connector: connector) == nil)
    }

    @Test(
        arguments: [
            ("[]", Connector.iosHTTP2, "object"), ("{", .iosHTTP2, "object"),
            (#"{"ca_fil": "x"}"#, .iosHTTP2, "did you mean ca_file"),
            (#"{"connections": 2}"#, .androidV1, "no option"), (#"{"connections": "2"}"#, .iosHTTP2, "whole number"),
            (#"{"connections": 0}"#, .iosHTTP2, "1 to 100"), (#"{"ca_file": ""}"#, .iosHTTP2, "PEM"),
        ]
    )
    func optionsThatAreNot(_ json: String, _ connector: Connector, _ words: String) {
        #expect(AccountOption.problem(json: json, connector: connector)?.contains(words) == true)
    }
}
