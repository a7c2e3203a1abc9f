/** The mark of Scorel. */
export function Mark({ className = "mark" }: { className?: string }) {
  return (
    <svg className={className} viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
      <path d="M9 7.75H14.5M2 11.5H14.5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
      <path d="M5 11.5C5 6.3 6.6 4 10.2 4H14.5" fill="none" stroke="var(--accent)" strokeWidth="1.5" strokeLinecap="round" />
      <ellipse cx="4.6" cy="11.5" rx="2.9" ry="2.3" transform="rotate(-20 4.6 11.5)" fill="var(--accent)" />
    </svg>
  );
}
