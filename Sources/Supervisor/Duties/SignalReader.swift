import CurlClient
import PostgresClient
import PushCore
import Store

/// Reads health signals: over HTTP from listed servers only, or from a function of the database.
package struct SignalReader: Sendable {
    /// An answer with one value in it is far smaller.
    private static let maxAnswer = 64 * 1_024

    private let client = CurlClient()
    private let store: Store
    private let allowed: @Sendable () -> String

    /// - Parameters:
    ///   - store: whose server has the functions.
    ///   - allowed: the present `mta.signals.allowedAddresses`.
    package init(store: Store, allowed: @escaping @Sendable () -> String) {
        self.store = store
        self.allowed = allowed
    }

    /// Reads a signal once; it takes little longer than the signal's timeout.
    package func read(_ signal: HealthSignal) async -> SignalReading {
        switch signal.kind {
        case .http: await fetch(signal.source, of: signal)
        case .prometheus:
            await fetch(
                (signal.source.hasSuffix("/") ? String(signal.source.dropLast()) : signal.source)
                    + "/api/v1/query?query=" + Self.encoded(signal.selector),
                of: signal
            )
        case .sql: await call(signal)
        }
    }

    private func fetch(_ url: String, of signal: HealthSignal) async -> SignalReading {
        let list = SignalAllowList(allowed())
        guard list.allows(url) else {
            return .failure("its server is not in mta.signals.allowedAddresses of this host")
        }
        let timeout = Int(signal.timeoutMilliseconds)
        let request = CurlRequest(
            url: url,
            timeoutMilliseconds: timeout,
            connectTimeoutMilliseconds: timeout,
            maxResponseBytes: Self.maxAnswer,
            reusesConnection: true
        )
        do {
            let response = try await client.perform(request) { list.allows(peer: $0.peer) }
            return SignalAnswer(response: response).reading(of: signal)
        } catch {
            return .failure(
                error.code == .withheld
                    ? "its server is at a private address that is not in mta.signals.allowedAddresses of this host"
                    : error.message
            )
        }
    }

    private func call(_ signal: HealthSignal) async -> SignalReading {
        do {
            guard let value = try await store.readSignalFunction(signal.source, timeout: signal.timeout) else {
                return .failure("\(signal.source) returned null")
            }
            return value.isFinite ? .value(value) : .failure("\(signal.source) did not return a finite number")
        } catch {
            return .failure("\(signal.source) failed: \((error as? PostgresError)?.message ?? "\(error)")")
        }
    }

    /// A query parameter's value: all but unreserved characters are percent-encoded.
    private static func encoded(_ text: String) -> String {
        let hexadecimal = Array("0123456789ABCDEF")
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "-._~".utf8.contains(byte)
            {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded.append("%")
                encoded.append(hexadecimal[Int(byte >> 4)])
                encoded.append(hexadecimal[Int(byte & 15)])
            }
        }
        return encoded
    }
}
