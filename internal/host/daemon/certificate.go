package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/platform/disk"
)

// certYears is how long a certificate of one's own counts: clients pin it and look
// at nothing else, so it need not be renewed.
const certYears = 10

// certificate returns the certificate to serve with: the one of the files that were
// named, else the device's own, which is made once.
func certificate(dir, certFile, keyFile string, rand io.Reader, now time.Time) (tls.Certificate, error) {
	if certFile != "" || keyFile != "" {
		if certFile == "" || keyFile == "" {
			return tls.Certificate{}, errors.New("--tls-cert and --tls-key belong together; give both, or neither for a certificate of the host's own")
		}
		c, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return c, fmt.Errorf("use the certificate %s with the key %s: %w", certFile, keyFile, err)
		}
		return c, nil
	}
	certFile, keyFile = filepath.Join(dir, certName), filepath.Join(dir, keyName)
	known, err := exposed(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeCertificate(certFile, keyFile, rand, now)
	}
	switch {
	case err != nil:
		return tls.Certificate{}, fmt.Errorf("make the host's certificate: %w", err)
	case known:
		return tls.Certificate{}, fmt.Errorf("others could read %s or write it, so whoever has it may pass for this host; scorel host reset makes another, which clients have to pin again", keyFile)
	}
	c, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return c, fmt.Errorf("the host's certificate %s cannot be used (%w); scorel host reset makes a new one, which clients have to pin again", certFile, err)
	}
	return c, nil
}

// makeCertificate writes a self-signed certificate and its key (0600). The key comes
// last: with it both are there.
func makeCertificate(certFile, keyFile string, rand io.Reader, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return err
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(rand, serial); err != nil {
		return err
	}
	names := []string{"localhost"}
	if name, err := os.Hostname(); err == nil && name != "" && name != "localhost" {
		names = append(names, strings.ToLower(name))
	}
	template := x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      pkix.Name{CommonName: "Scorel host"},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.AddDate(certYears, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand, &template, &template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	fsys := disk.OS()
	if err := disk.WriteFile(fsys, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return err
	}
	return disk.WriteFile(fsys, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// fingerprint is the SHA-256 of a certificate's DER in hex, with colons between the
// bytes, as other programs show it.
func fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = strings.ToUpper(hex.EncodeToString([]byte{b}))
	}
	return strings.Join(parts, ":")
}
