import Gateways
import PushCore
import Testing

@testable import MTAChild

/// The registry matches the values that accounts may have.
@Suite struct GatewayRegistryTests {
    private let registry = GatewayRegistry.standard

    @Test(arguments: Connector.allCases)
    func everyWayThatAnAccountMaySayHasItsGateway(_ connector: Connector) {
        let facts = connector.facts
        for credential in CredentialKind.allCases {
            let kind = registry.kind(of: connector, with: credential)
            #expect(kind?.format == facts.formats[credential], "\(connector.rawValue) with \(credential.text)")
        }
        #expect(registry.kind(of: connector)?.format == facts.usualFormat)
        #expect(!facts.formats.isEmpty && !facts.ports.isEmpty)
    }

    @Test func everyFormHasItsGatewayAndEveryGatewayItsRows() {
        #expect(Set(registry.kinds.map(\.format)) == Set(PayloadFormat.allCases))
        #expect(Set(registry.kinds.map(\.answers.gateway)) == Set(AnswerGateway.allCases))
        for kind in registry.kinds {
            let others = kind.answers.rows.filter { $0.gateway != kind.answers.gateway }
            #expect(!kind.answers.rows.isEmpty && others.isEmpty)
        }
    }

    @Test func onlyAStandInIsRemarkedOn() {
        #expect(registry.kinds.filter { $0.remark != nil }.map(\.format) == [.apnsBinary])
        #expect(registry.kinds.filter { !$0.handshake.offersHTTP2 }.map(\.format) == [.apnsBinary])
    }
}
