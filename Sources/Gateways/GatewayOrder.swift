import CurlClient
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a gateway is made from.
package struct GatewayOrder: Sendable {
    /// The external account's connector.
    package let connector: Connector
    /// What the application authenticates with, of a kind that the ``GatewayKind`` accepts.
    package let credential: GatewayCredential
    /// How the gateway is reached.
    package let options: GatewayOptions
    /// The time of the database's clock.
    package let now: @Sendable () -> Date
    package let eventLoop: any EventLoop
    /// Gets outcomes and events on the event loop; kept until the gateway is shut down.
    package let delegate: any GatewayDelegate
    /// The application's bundle id as it is stored.
    let bundleID: String
    /// The shared provider token of each APNs key.
    let sources: ProviderTokenSources
    /// The HTTP client for token endpoints.
    let curl: CurlClient

    /// The application's bundle id, checked to be valid in a header. APNs resets a request with an invalid one without
    /// an answer.
    package func topic() throws(GatewayCredentialError) -> String {
        let topic = HeaderText.cleaned(bundleID)
        guard topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw GatewayCredentialError(
                .wrongApplication,
                "the application's bundle id is not a valid one: correct it with pushmta app set --bundle-id"
            )
        }
        return topic
    }

    /// The error for a credential that the connector does not accept.
    package var mismatch: GatewayCredentialError { CredentialChoice.mismatch(connector, credential) }
}
