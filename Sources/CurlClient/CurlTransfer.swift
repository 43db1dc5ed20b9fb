import CCurl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A request in progress, on the client's thread.
final class CurlTransfer {
    /// The maximum size of a response's header, in bytes; the servers we use send one or two thousand.
    private static let maxHeaderBytes = 65_536

    let id: UInt64
    let request: CurlRequest
    let easy: UnsafeMutableRawPointer
    /// libcurl reads this memory for the life of the transfer.
    var headerList: UnsafeMutablePointer<curl_slist>?
    let errorBuffer: UnsafeMutablePointer<CChar>

    private let mayLeave: CurlWorker.MayLeave?
    private let completion: CurlWorker.Completion
    private var headers: [CurlHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// Bytes sent to a proxy before the first connection was ready; nil until one is.
    private var bytesBefore: Int?
    /// The number of connections opened for the request by the time one was ready.
    private var connects = 0
    private var isRepetition = false
    private var isWithheld = false

    /// Returns nil when out of memory; the completion is then not called.
    init?(
        id: UInt64,
        request: CurlRequest,
        mayLeave: CurlWorker.MayLeave?,
        completion: @escaping CurlWorker.Completion
    ) {
        guard let easy = curl_easy_init() else { return nil }
        self.id = id
        self.request = request
        self.easy = easy
        self.mayLeave = mayLeave
        self.completion = completion
        self.errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        self.errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorBuffer.deallocate()
    }

    /// Passes the response or the error to the caller.
    func finish(_ result: CURLcode) {
        completion(outcome(of: result))
    }

    /// Completes a cancelled request.
    func giveUp() {
        completion(.failure(CurlWorker.cancelled(request.server, mayHaveBeenSent: mayHaveBeenSent)))
    }

    /// A connection is ready; returns whether the request may be sent on it.
    ///
    /// libcurl calls this again to repeat the request when a reused connection ended without a response. A request that
    /// may have arrived must not arrive twice.
    func ready(peer: String) -> Bool {
        let bytes = sentBytes
        if let before = bytesBefore, bytes > before {
            isRepetition = true
            return false
        }
        bytesBefore = bytes
        guard let mayLeave else { return true }
        var made = 0
        ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &made)
        defer { connects = made }
        isWithheld = !mayLeave(CurlConnection(peer: peer, isNew: made > connects))
        return !isWithheld
    }

    /// Takes a piece of the response's body; returns false to end the transfer.
    func receive(body piece: UnsafeRawBufferPointer) -> Bool {
        guard body.count + piece.count <= request.maxResponseBytes else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: piece)
        return true
    }

    /// Takes one line of the header; returns false to end the transfer.
    func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maxHeaderBytes else {
            isTooLarge = true
            return false
        }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // The final response follows an interim one such as 100 Continue.
            headers.removeAll()
        } else if let colon = text.firstIndex(of: ":") {
            headers.append(CurlHeader(String(text[..<colon]), Self.trimmed(text[text.index(after: colon)...])))
        }
        return true
    }

    private var sentBytes: Int {
        var bytes = 0
        return ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK ? bytes : 0
    }

    private var mayHaveBeenSent: Bool {
        bytesBefore.map { sentBytes > $0 } ?? false
    }

    private func outcome(of result: CURLcode) -> Result<CurlResponse, CurlError> {
        if isTooLarge {
            let text =
                "the response of \(request.server) exceeds \(request.maxResponseBytes) bytes of body or "
                + "\(Self.maxHeaderBytes) bytes of header. Check that the address is the right server's."
            let number = Int32(bitPattern: result.rawValue)
            return .failure(CurlError(.responseTooLarge, text, curlCode: number, mayHaveBeenSent: true))
        }
        if isWithheld {
            return .failure(CurlError(.withheld, "request to \(request.server) was withheld by its caller"))
        }
        guard result == CURLE_OK else {
            let detail = isRepetition ? "the connection ended without a response" : cause(of: result)
            let sent = mayHaveBeenSent
            let result = isRepetition ? CURLE_GOT_NOTHING : result
            return .failure(
                CurlError(result: result, server: request.server, detail: detail, mayHaveBeenSent: sent)
            )
        }
        var status = 0
        ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return .success(CurlResponse(status: status, headers: headers, body: body))
    }

    /// libcurl's message, plus the system's for a connection that could not be opened, which libcurl omits.
    private func cause(of result: CURLcode) -> String {
        let text = String(cString: errorBuffer)
        var number = 0
        guard result == CURLE_COULDNT_CONNECT, ccurl_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number > 0,
            let words = strerror(Int32(truncatingIfNeeded: number))
        else { return text }
        return "\(text) (\(String(cString: words)))"
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        var value = text.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return String(value)
    }
}

extension CurlTransfer {
    /// Sets every option of the request; returns the first error.
    func configure() -> CURLcode {
        for step in [configureConnection, configureTrust, configureRequest, configureAnswer] {
            let result = step()
            guard result == CURLE_OK else { return result }
        }
        return CURLE_OK
    }

    private func configureConnection() -> CURLcode {
        var settings = Settings(easy)
        settings.set(CURLOPT_URL, text: request.url)
        settings.set(CURLOPT_PROTOCOLS_STR, text: "http,https")
        settings.set(CURLOPT_HTTP_VERSION, request.offersHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // A multithreaded process must not use SIGALRM for timeouts.
        settings.set(CURLOPT_NOSIGNAL, 1)
        settings.set(CURLOPT_FOLLOWLOCATION, 0)
        // Passwords in addresses end up in logs.
        settings.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        settings.set(CURLOPT_TIMEOUT_MS, request.timeoutMilliseconds)
        settings.set(CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeoutMilliseconds)
        settings.set(CURLOPT_FRESH_CONNECT, request.reusesConnection ? 0 : 1)
        settings.set(CURLOPT_FORBID_REUSE, request.reusesConnection ? 0 : 1)
        settings.set(prerequisite: Self.readyCallback, Unmanaged.passUnretained(self).toOpaque())
        switch request.proxy {
        case .none: settings.set(CURLOPT_PROXY, text: "")
        case .environment: break
        case .url(let proxy):
            settings.set(CURLOPT_PROXY, text: proxy)
            // Otherwise libcurl obeys the variable no_proxy, which the caller has not asked for.
            settings.set(CURLOPT_NOPROXY, text: "")
        }
        return settings.result
    }

    private func configureTrust() -> CURLcode {
        var settings = Settings(easy)
        settings.set(CURLOPT_SSL_VERIFYPEER, 1)
        // 2: the certificate's name must match the host.
        settings.set(CURLOPT_SSL_VERIFYHOST, 2)
        settings.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = request.certificateAuthorityFile {
            settings.set(CURLOPT_CAINFO, text: file)
            // Otherwise the system's folder of authorities stays trusted in addition to the file.
            settings.set(CURLOPT_CAPATH, text: nil)
        }
        return settings.result
    }

    private func configureRequest() -> CURLcode {
        var settings = Settings(easy)
        settings.set(CURLOPT_USERAGENT, text: "PushMTA")
        if request.method == "HEAD" {
            settings.set(CURLOPT_NOBODY, 1)
        } else if !request.body.isEmpty || request.method == "POST" || request.method == "PUT" {
            settings.set(CURLOPT_POST, 1)
            settings.set(CURLOPT_POSTFIELDSIZE_LARGE, size: request.body.count)
            settings.set(CURLOPT_COPYPOSTFIELDS, bytes: request.body)
        }
        settings.set(CURLOPT_CUSTOMREQUEST, text: request.method)
        guard let list = makeHeaderList() else { return CURLE_OUT_OF_MEMORY }
        headerList = list
        settings.set(CURLOPT_HTTPHEADER, list: list)
        return settings.result
    }

    private func configureAnswer() -> CURLcode {
        var settings = Settings(easy)
        let context = Unmanaged.passUnretained(self).toOpaque()
        settings.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        settings.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        settings.set(CURLOPT_WRITEFUNCTION, callback: Self.bodyCallback)
        settings.set(CURLOPT_WRITEDATA, pointer: context)
        settings.set(CURLOPT_HEADERFUNCTION, callback: Self.headerCallback)
        settings.set(CURLOPT_HEADERDATA, pointer: context)
        return settings.result
    }

    private func makeHeaderList() -> UnsafeMutablePointer<curl_slist>? {
        // By default curl waits a second for "100 Continue" before it sends a larger body.
        var lines = ["Expect:"]
        var hasContentType = false
        for header in request.headers {
            // To curl, "Name:" means "omit the field" and "Name;" means "send it without a value".
            lines.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
            hasContentType = hasContentType || header.name.lowercased() == "content-type"
        }
        if !hasContentType { lines.append("Content-Type:") }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                return nil
            }
            list = longer
        }
        return list
    }

    // The transfer outlives its handle's last callback: the loop removes the handle before it releases the transfer.
    private static let bodyCallback: ccurl_data_callback = { data, size, count, context in
        guard let data, let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.receive(body: UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
    }

    private static let headerCallback: ccurl_data_callback = { data, size, count, context in
        guard let data, let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.receive(headerLine: UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
    }

    private static let readyCallback: ccurl_ready_callback = { context, peer, _, port, _ in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let address = peer.map { String(cString: $0) } ?? ""
        let isReady = transfer.ready(peer: address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)")
        return isReady ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Sets options in turn and keeps the first error.
    private struct Settings {
        private let easy: UnsafeMutableRawPointer
        private(set) var result = CURLE_OK

        init(_ easy: UnsafeMutableRawPointer) {
            self.easy = easy
        }

        private mutating func note(_ new: CURLcode) {
            if result == CURLE_OK { result = new }
        }

        mutating func set(_ option: CURLoption, _ value: Int) {
            note(ccurl_set_long(easy, option, value))
        }

        mutating func set(_ option: CURLoption, size: Int) {
            note(ccurl_set_size(easy, option, curl_off_t(size)))
        }

        mutating func set(_ option: CURLoption, text: String?) {
            note(ccurl_set_text(easy, option, text))
        }

        mutating func set(_ option: CURLoption, bytes: [UInt8]) {
            bytes.withUnsafeBytes { buffer in
                // An empty array has no address, and to curl a null pointer means "read the body from a callback".
                if let start = buffer.baseAddress, !buffer.isEmpty {
                    note(ccurl_set_pointer(easy, option, start))
                } else {
                    note(ccurl_set_text(easy, option, ""))
                }
            }
        }

        mutating func set(_ option: CURLoption, pointer: UnsafeRawPointer) {
            note(ccurl_set_pointer(easy, option, pointer))
        }

        mutating func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>) {
            note(ccurl_set_list(easy, option, list))
        }

        mutating func set(prerequisite callback: ccurl_ready_callback, _ context: UnsafeRawPointer) {
            note(ccurl_set_ready_callback(easy, CURLOPT_PREREQFUNCTION, callback))
            note(ccurl_set_pointer(easy, CURLOPT_PREREQDATA, context))
        }

        mutating func set(_ option: CURLoption, callback: ccurl_data_callback) {
            note(ccurl_set_data_callback(easy, option, callback))
        }
    }
}
