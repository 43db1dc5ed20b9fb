import ArgumentParser
import Foundation
import Gateways
import PushCore

/// The options of an external account beside its address.
struct AccountOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: "A PEM file of certificate authorities to trust instead of the usual ones."
    )
    var certificateAuthorityFile: String?

    @Option(help: "Connections to the gateway of one child (default: by setting).")
    var connections: Int?

    @Option(help: "ios-binary: host of the feedback service (default: by the gateway's host).")
    var feedbackHost: String?

    @Option(help: "ios-binary: port of the feedback service (default: the one behind the gateway's).")
    var feedbackPort: Int?

    func validate() throws {
        if let feedbackPort, !(1...65_535).contains(feedbackPort) {
            throw ValidationError("--feedback-port is \(feedbackPort): give a number from 1 to 65535.")
        }
        if let problem = feedbackHost.flatMap({ AccountAddress.problem($0, option: "--feedback-host") }) {
            throw ValidationError(problem)
        }
        if let file = certificateAuthorityFile { try Self.checkAuthorities(file) }
        if let connections, !(1...100).contains(connections) {
            throw ValidationError("--connections is \(connections): give a number from 1 to 100.")
        }
    }

    /// Whether any option was given.
    var isEmpty: Bool {
        certificateAuthorityFile == nil && connections == nil && feedbackHost == nil && feedbackPort == nil
    }

    /// The options as the database keeps them; those that were not given stay as they are in `earlier`.
    func json(merging earlier: String?) -> String {
        let known = earlier.flatMap { try? JSONBody.decode(Stored.self, from: $0.utf8) } ?? Stored()
        var pairs: [(String, Cell)] = []
        if let file = certificateAuthorityFile.map(Self.absolutePath) ?? known.caFile {
            pairs.append(("ca_file", .text(file)))
        }
        if let count = connections ?? known.connections { pairs.append(("connections", Cell(count))) }
        if let host = feedbackHost.map(GatewayHost.comparable) ?? known.feedbackHost {
            pairs.append(("feedback_host", .text(host)))
        }
        if let port = feedbackPort ?? known.feedbackPort { pairs.append(("feedback_port", Cell(port))) }
        return Cell.object(pairs).json
    }

    /// A file that holds no certificate authority would be found out by the first delivery.
    private static func checkAuthorities(_ file: String) throws {
        do {
            let pem = try SmallFile.contents(file, "file of certificate authorities", "give the path of a PEM file")
            try CertificateAuthorities.check(Array(pem))
        } catch let error as GatewayCredentialError {
            throw ValidationError("--ca-file \(file): \(error)")
        } catch {
            throw ValidationError("--ca-file: \(error)")
        }
    }

    /// Children run in another folder than the one in which the option was typed.
    private static func absolutePath(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    private struct Stored: Decodable {
        var caFile: String?
        var connections: Int?
        var feedbackHost: String?
        var feedbackPort: Int?

        enum CodingKeys: String, CodingKey {
            case caFile = "ca_file"
            case connections
            case feedbackHost = "feedback_host"
            case feedbackPort = "feedback_port"
        }
    }
}
