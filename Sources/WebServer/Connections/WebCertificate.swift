import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ProcessEvents
import PushCore
import Store
import Synchronization

/// The certificate that HTTPS is served with: it can be read again while connections are open, which keep the one that they have.
final class WebCertificate: Sendable {
    private struct State {
        var context: NIOSSLContext
        var expires: Int
    }

    private let settings: WebSettings
    private let state: Mutex<State>

    /// Reads the files of the settings.
    ///
    /// - Throws: ``WebServerError`` if they cannot be used.
    init(_ settings: WebSettings) throws(WebServerError) {
        self.settings = settings
        state = Mutex(try Self.read(settings))
    }

    /// Reads the files again; what cannot be used changes nothing.
    func reload() throws(WebServerError) {
        let read = try Self.read(settings)
        state.withLock { $0 = read }
    }

    /// What new connections are served with.
    var context: NIOSSLContext { state.withLock(\.context) }

    /// When it ends, in seconds of Unix time: the first of the chain's.
    var expires: Int { state.withLock(\.expires) }

    /// How long it is good; negative when its time is over.
    var secondsLeft: Double { Double(expires) - Date().timeIntervalSince1970 }

    /// How long it is good, in words that end a sentence.
    var expiryText: String { ExpiryNotice.text(secondsLeft: secondsLeft) }

    private static func read(_ settings: WebSettings) throws(WebServerError) -> State {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(settings.certificateFile)
            let key = try NIOSSLPrivateKey(file: settings.privateKeyFile, format: .pem)
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
            throw WebServerError(
                code: .setting,
                description:
                    "web.certificateFile “\(settings.certificateFile)” and web.privateKeyFile “\(settings.privateKeyFile)” cannot be used for web.tlsPort: \(words(error)). Give PEM files that belong together."
            )
        }
    }
}

extension WebCertificate {
    /// What the library found, for people: its own words are names of its program.
    private static func words(_ error: any Error) -> String {
        switch error as? NIOSSLError {
        case .failedToLoadCertificate?: "the certificate cannot be read, or is none in PEM"
        case .failedToLoadPrivateKey?: "the key cannot be read, or is none in PEM without a passphrase"
        default: "\(error)"
        }
    }
}

/// Puts TLS under the connections of ``WebChannel``, with the certificate of the moment in which each begins.
struct WebTLSChannel: ServerChildChannel {
    typealias Value = WebChannel.Value

    let base: WebChannel
    let certificate: WebCertificate

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let context = certificate.context
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// How long the certificate of a web process is good, for those who look after a host.
public struct WebCertificateCheck: Sendable {
    /// What is wrong with the files, or how long the certificate is good.
    public enum Result: Sendable {
        /// It cannot be used, and why.
        case unusable(String)
        /// Seconds until it ends; negative when its time is over.
        case good(secondsLeft: Double)
    }

    /// Reads the files that the settings name; nil if they ask for no HTTPS.
    public static func result(_ settings: WebSettings) -> Result? {
        guard settings.tlsPort > 0 else { return nil }
        do {
            return .good(secondsLeft: try WebCertificate(settings).secondsLeft)
        } catch {
            return .unusable(error.description)
        }
    }
}

/// The certificate of HTTPS while the process runs.
extension WebServer {
    /// Reads the certificate of HTTPS and its key again, for the connections that come from now on; files that cannot be used change
    /// nothing.
    public func reloadCertificate() {
        guard let certificate = listeners.tlsCertificate else { return }
        do {
            try certificate.reload()
            setup.logger.notice("The certificate of web.certificateFile was read again: it \(certificate.expiryText).")
        } catch {
            setup.logger.failure("The certificate stays the one that was read before", of: error, level: .error)
        }
        certificateReport.withLock { $0 = nil }
    }

    /// Tells the database until when the certificate is good, and the log when its end is near.
    func reportCertificate() async {
        guard let certificate = listeners.tlsCertificate else { return }
        let notice = ExpiryNotice(secondsLeft: certificate.secondsLeft)
        let isNews = certificateNotice.withLock { last in
            defer { last = notice }
            return notice != nil && notice != last
        }
        if isNews {
            setup.logger.warning(
                "The certificate \(setup.settings.web.certificateFile) (web.certificateFile) \(certificate.expiryText): put another one there and send SIGHUP."
            )
        }
        let now = ContinuousClock.now
        guard certificateReport.withLock({ $0.map { $0 <= now } ?? true }) else { return }
        do {
            try await stores.reading.noteWebCertificate(
                host: setup.hostName,
                file: setup.settings.web.certificateFile,
                expires: certificate.expires
            )
            certificateReport.withLock { $0 = now + Self.certificatePause }
        } catch {
            setup.logger.failure("The database was not told of the certificate", of: error)
        }
    }

    /// Between two reports of the same certificate; who sees none for an hour takes the process for gone.
    private static let certificatePause = Duration.seconds(60)
}
