import NIOSSL
import Synchronization

/// The certificate of a server's HTTPS. It can be reloaded at any time; open connections keep theirs.
package final class ServerCertificate: Sendable {
    /// The PEM files of a certificate and its key, with the settings that name them.
    package struct Files: Sendable, Hashable {
        package var certificate: String
        package var key: String
        /// The name of the setting of the certificate's file, for errors.
        package var certificateSetting: String
        /// The name of the setting of the key's file.
        package var keySetting: String

        /// The setting, or the service, that needs them.
        package var use: String

        package init(certificate: String, key: String, certificateSetting: String, keySetting: String, use: String) {
            self.use = use
            self.certificate = certificate
            self.key = key
            self.certificateSetting = certificateSetting
            self.keySetting = keySetting
        }
    }

    /// Why the files cannot be used.
    package struct Problem: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private struct State {
        var context: NIOSSLContext
        var expires: Int
    }

    private let files: Files
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: ``Problem`` if they cannot be used.
    package init(_ files: Files) throws(Problem) {
        self.files = files
        state = Mutex(try Self.read(files))
    }

    /// Reads the files again; if they cannot be used, nothing changes.
    package func reload() throws(Problem) {
        let read = try Self.read(files)
        state.withLock { $0 = read }
    }

    /// The TLS context for new connections.
    package var context: NIOSSLContext { state.withLock(\.context) }

    /// When the certificate expires, in Unix time: the earliest expiry of its chain.
    package var expires: Int { state.withLock(\.expires) }

    private static func read(_ files: Files) throws(Problem) -> State {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
            let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return State(
                context: try NIOSSLContext(configuration: configuration),
                expires: chain.map { Int($0.notValidAfter) }.min() ?? 0
            )
        } catch {
            throw Problem(
                description:
                    "\(files.certificateSetting) “\(files.certificate)” and \(files.keySetting) “\(files.key)” cannot be used for \(files.use): \(words(error)). Give PEM files of a certificate and its own key."
            )
        }
    }

    /// A readable description of the library's error, whose own text only names its error case.
    private static func words(_ error: any Error) -> String {
        switch error as? NIOSSLError {
        case .failedToLoadCertificate?: "the certificate cannot be read or is not in PEM format"
        case .failedToLoadPrivateKey?: "the key cannot be read or is not in PEM format without a passphrase"
        default: "\(error)"
        }
    }
}
